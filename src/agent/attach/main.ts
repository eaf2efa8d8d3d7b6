/**
 * `attach --base DIR --agent HASH --marker TEXT [--find]`: on a node, by SSH. Bridges stdin
 * and stdout to the supervisor of this user and machine, which is started if none runs. The
 * marker is printed first, after any output of the login shell. With `--find` nothing is
 * started; exit code 3 means that no supervisor runs. Exit code 4: none may start, and the
 * last line on stderr says why, as JSON. With `--version` alone it only prints the agent's.
 *
 * The base is the agent's directory on the node, `~/.gradwire`. It may be shared by many
 * machines (NFS), so files of one machine are in `nodes/HOSTNAME`.
 *
 * Both ends name the socket relative to that directory, in which they work: a socket's
 * address holds 108 bytes, and homes may have longer paths. Anywhere else, such as in
 * /tmp, another user could be there first.
 */
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import manifest from '../../../package.json' with { type: 'json' };
import { makePrivate } from '../../disk/private-directory.ts';
import { listened, startSupervisor } from '../../process/supervisor-start.ts';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { bundledFile } from '../bundle/bundled-file.ts';
import { ignoreWarningSignals } from '../bundle/warning-signals.ts';

const SILENCE_MS = 10_000;
/** Errors of a connection to a supervisor that ends. */
const GONE = ['ECONNRESET', 'EPIPE'];
/** Name of the socket in the machine's directory. */
const SOCKET = 'supervisor.sock';
const EXIT_NONE_RUNS = 3;
const EXIT_REFUSED = 4;

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    agent: { type: 'string' },
    marker: { type: 'string' },
    find: { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
  },
});
const { base, agent = '', marker, find } = values;
if (values.version) {
  process.stdout.write(`${manifest.version}\n`);
  process.exit(0);
}
if (base === undefined || marker === undefined) {
  process.stderr.write(
    'usage: attach --base DIR --agent HASH --marker TEXT [--find]\n',
  );
  process.exit(2);
}
process.title = 'gradwire attach';
ignoreWarningSignals();
process.umask(0o077);

const fail = (error: unknown): void => {
  const refusal = refusalOf(error);
  if (refusal !== undefined) {
    process.stderr.write(`${JSON.stringify(refusal)}\n`);
    process.exit(EXIT_REFUSED);
  }
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

const cache = path.resolve(base, 'cache');
const home = path.resolve(base, 'nodes', os.hostname());

markUsed();
try {
  await takeBase();
  const socket = (await dial()) ?? (find ? undefined : await startAndDial());
  if (socket === undefined) process.exit(EXIT_NONE_RUNS);
  process.stdout.write(`${marker}\n`);
  socket.pipe(process.stdout);
  process.stdin.pipe(socket);
  // Only after all output is written: the supervisor's last messages give its reason.
  socket.on('close', () => process.stdout.write('', () => process.exit(0)));
  socket.on('error', () => process.exit(1));
  process.stdout.on('error', () => process.exit(1));
} catch (error) {
  fail(error);
}

/**
 * Makes the base private, which ends what other users could do with the supervisor's socket, and
 * read.
 */
async function takeBase(): Promise<void> {
  try {
    const next = `Make ${base} a directory of your own on that machine.`;
    const changed = await makePrivate(path.resolve(base!), next);
    if (changed !== undefined) process.stderr.write(`${changed}\n`);
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    process.stderr.write(`${JSON.stringify(error.toData())}\n`);
    process.exit(EXIT_REFUSED);
  }
}

/** Marks this agent as used: the last used ones are kept and found first. */
function markUsed(): void {
  try {
    utimesSync(import.meta.dirname, new Date(), new Date());
  } catch (error) {
    // What must write there fails next, and says so; to find a supervisor needs no writing.
    if (refusalOf(error) === undefined) throw error;
  }
}

/** An error of a home that became unusable, for the user; undefined for any other. */
function refusalOf(error: unknown): ErrorData | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EROFS' || code === 'EACCES' || code === 'EPERM') {
    return failure('HOME_READ_ONLY', `the home there cannot be written: ${message}`, {
      next: 'Have it mounted for writing again, and check its owner and permissions.',
    }).toData();
  }
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return failure('DISK_FULL', `the home there is full: ${message}`, {
      next: 'Free some space there.',
    }).toData();
  }
  return undefined;
}

/** False if there is no such directory, and so no supervisor. */
function enterHome(): boolean {
  try {
    process.chdir(home);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw cause;
  }
}

/**
 * Connects to the supervisor; undefined if nothing listens. A supervisor greets at once; one that
 * closes first is shutting down.
 */
async function dial(): Promise<Socket | undefined> {
  if (!enterHome()) return undefined;
  const socket = await listened(connect(SOCKET));
  if (socket === undefined) return undefined;
  return await new Promise((resolve, reject) => {
    const settle = (result: Socket | undefined): void => {
      clearTimeout(patience);
      socket.removeAllListeners();
      resolve(result);
    };
    // The app reports the silence.
    const patience = setTimeout(settle, SILENCE_MS, socket);
    socket.once('readable', () => {
      settle(socket.readableLength > 0 ? socket : undefined);
    });
    socket.once('close', () => {
      settle(undefined);
    });
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      if (GONE.includes(cause.code ?? '')) settle(undefined);
      else reject(cause);
    });
  });
}

/**
 * Makes directories one by one: Node's recursive mkdir calls a read-only file system a missing
 * directory.
 */
function makeHome(): void {
  for (const directory of [path.dirname(home), home]) {
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

async function startAndDial(): Promise<Socket> {
  makeHome();
  // Records what is in use, so that old agents and old Nodes can be removed.
  writeFileSync(path.join(home, 'runtime'), `${process.execPath}\n`, { mode: 0o600 });
  writeFileSync(path.join(home, 'agent'), `${agent}\n`, { mode: 0o600 });
  const entry = bundledFile(
    { bundle: 'supervisor.js', source: '../supervisor/main.ts' },
    import.meta.dirname,
  );
  const started = await startSupervisor(
    {
      node: process.execPath,
      entry,
      home,
      socket: SOCKET,
      log: path.join(home, 'supervisor.log'),
      // Nothing may be left outside the base.
      environment: { NODE_COMPILE_CACHE: cache },
    },
    dial,
  );
  if (started.kind === 'connected') return started.connection;
  if (started.kind === 'failed') throw new Error(started.message);
  process.stderr.write(started.line);
  process.exit(EXIT_REFUSED);
}
