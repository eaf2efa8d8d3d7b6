/**
 * `gradwire supervisor --home DIR --socket PATH`: one per user and home. It owns the
 * runs; mains come and go. It ends by itself when it has neither a client nor a live
 * run: records not stored yet are in journals, which the next one finds.
 *
 * Before it looks at any run it takes the home's lock (`home-lock.ts`): that nobody listens
 * on the socket does not mean that nobody owns the runs.
 */
import { stat } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  failure,
  formatError,
  toErrorData,
  type ErrorData,
  type GradwireError,
} from '../../shared/errors/errors.ts';
import { ClientSession } from './door/client-session.ts';
import { ControlSocket } from './door/control-socket.ts';
import { homeHeld } from './home/held-home.ts';
import { HomeWatch } from './home/home-watch.ts';
import { HomeLock } from './home/home-lock.ts';
import { homeGone, supervisorStopped } from './ranks/run-errors.ts';
import { currentRun } from './runs/run-scope.ts';
import { RunTable } from './runs/run-table.ts';
import { tellStarter } from './door/starter-line.ts';
import { VERSION } from './door/version.ts';

const { values } = parseArgs({
  options: {
    home: { type: 'string' },
    socket: { type: 'string' },
    // File descriptor 3 leads to the process that started this one.
    started: { type: 'boolean', default: false },
  },
});
if (values.home === undefined || values.socket === undefined) {
  process.stderr.write('usage: supervisor --home DIR --socket PATH [--started]\n');
  process.exit(2);
}
const home = path.resolve(values.home);
process.title = `gradwire supervisor ${home}`;
process.umask(0o077);

/** A main that starts us connects right away. */
const FIRST_CLIENT_MS = 10_000;
const IDLE_MS = 100;
/** Time between two looks whether the lock and the socket still lead to this supervisor. */
const OWNERSHIP_MS = 1_000;
/** Time for a supervisor here that does not listen to listen again, or to end. */
const OTHER_MS = 10_000;
const OTHER_PAUSE_MS = 50;

let lastSaid = '';
let clients = 0;
let idle: NodeJS.Timeout | undefined;
const runs = new RunTable(
  path.join(home, 'runs'),
  () => {
    leaveIfIdle(IDLE_MS);
  },
  (message) => {
    process.stderr.write(`${message}\n`);
  },
);

const server: Server = createServer((socket) => {
  clients++;
  clearTimeout(idle);
  const session = new ClientSession(socket, runs, VERSION);
  // An error of a client's socket ends with the socket.
  socket.on('error', () => undefined);
  socket.on('close', () => {
    clients--;
    session.close();
    leaveIfIdle(IDLE_MS);
  });
});
// The first call of this kind starts Node's threads for files, all of them. Where no thread may be
// started, Node aborts: now nothing is lost by that, with runs in progress they would be.
await stat('/');

const control = new ControlSocket(server, values.socket);
const lock = await takeHome();
const watch = new HomeWatch(home);

// A full disk must not end it for the sake of its log.
process.stderr.on('error', () => undefined);
process.on('uncaughtException', fault);
process.on('unhandledRejection', fault);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    void endWith(supervisorStopped());
  });
}
// The terminal that started the first main may close: runs continue.
process.on('SIGHUP', () => undefined);

try {
  await control.listen();
} catch (error) {
  lock.release();
  refuse(
    failure('SUPERVISOR_START_FAILED', `cannot listen on its socket: ${text(error)}`, {
      place: values.socket,
      next: 'Check that the file system of that directory takes Unix sockets and has space.',
    }),
  );
}
if (values.started) tellStarter();
runs.restore();
leaveIfIdle(FIRST_CLIENT_MS);
let looking = false;
setInterval(() => {
  if (looking) return;
  looking = true;
  void keepHome().finally(() => {
    looking = false;
  });
}, OWNERSHIP_MS).unref();

/** Ends all runs, for this reason, and then this process. */
async function endWith(error: ErrorData): Promise<void> {
  await runs.abortAll(error);
  // Clients get what they are sent at the end of the next turn.
  setImmediate(() => setImmediate(() => leave(0)));
}

function leaveIfIdle(after: number): void {
  clearTimeout(idle);
  idle = setTimeout(() => {
    if (clients === 0 && runs.live === 0) leave(0);
  }, after);
}

function leave(code: number): never {
  control.remove();
  lock.release();
  process.exit(code);
}

/** Waits for a supervisor here that is about to end; ends this one if another serves. */
async function takeHome(): Promise<HomeLock> {
  const end = performance.now() + OTHER_MS;
  for (;;) {
    const held = await acquire();
    if (held instanceof HomeLock) {
      // Versions before the lock had only the socket.
      if (!(await control.isServed())) return held;
      held.release();
      process.exit(0);
    }
    const mayCome = held.fate === 'alive' && performance.now() < end;
    if (held.fate === 'alive' && (await control.isServed())) process.exit(0);
    if (!mayCome) refuse(homeHeld(held, home));
    await pause(OTHER_PAUSE_MS);
  }
}

async function acquire(): ReturnType<typeof HomeLock.acquire> {
  try {
    return await HomeLock.acquire(home);
  } catch (error) {
    return refuse(
      failure('HOME_UNUSABLE', `cannot lock ${home}: ${text(error)}`, {
        next: 'Check that you may write there and that the disk has space.',
      }),
    );
  }
}

function refuse(error: GradwireError): never {
  say(formatError(error.toData()));
  if (values.started) tellStarter(error.toData());
  process.exit(1);
}

/** The last handler: the run that it belongs to fails, the others continue. */
function fault(error: unknown): void {
  const run = currentRun();
  const whose = run === undefined ? '' : ` of run ${run}`;
  sayOnce(`a fault${whose}: ${error instanceof Error ? error.stack : String(error)}`);
  if (run === undefined) return;
  try {
    runs.abort(run, toErrorData(error));
  } catch (cause) {
    say(`run ${run} cannot be ended: ${text(cause)}`);
  }
}

/** Keeps lock and socket: somebody may remove them, or put another file there. */
async function keepHome(): Promise<void> {
  const state = watch.look();
  if (state === 'away') return;
  if (state === 'gone') {
    say(`${home} has been removed; this supervisor ends with its runs`);
    await endWith(homeGone(home));
    return;
  }
  try {
    if (!(await lock.keep())) {
      // Given to another supervisor by hand: to write any more would damage its journals.
      say(`${home} now belongs to another supervisor; this one ends with its ranks`);
      process.exit(1);
    }
    if (control.isReachable || (await control.isServed())) return;
    await control.listen();
    say('somebody removed or replaced the socket: it listens again');
  } catch (error) {
    sayOnce(`cannot make sure of the lock and the socket: ${text(error)}`);
  }
}

function say(what: string): void {
  process.stderr.write(
    `${new Date().toISOString()} supervisor ${process.pid}: ${what}\n`,
  );
}

/** Logs a trouble once that comes again every second. */
function sayOnce(what: string): void {
  if (what !== lastSaid) say(what);
  lastSaid = what;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
