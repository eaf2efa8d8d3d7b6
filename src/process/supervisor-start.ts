/**
 * A supervisor of this machine, found by its socket or started. It is detached, with a log file
 * for its output, so that it outlives its starter. Of two that start at once one gets the home;
 * the other ends, and its starter finds the first.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { GrowingPause } from '../shared/async/growing-pause.ts';

/** Time limit from the start of the process until it listens. */
const START_DEADLINE_MS = 60_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 40;
const LOG_LIMIT_BYTES = 1_000_000;
const LOG_TAIL_LINES = 5;

export interface SupervisorStart {
  /** The Node that runs it. */
  readonly node: string;
  /** The supervisor's script. */
  readonly entry: string;
  /** The home, in which it works. */
  readonly home: string;
  /** The socket, as the supervisor names it. */
  readonly socket: string;
  /** The file of its output. */
  readonly log: string;
  /** Environment variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The outcome of a start. */
export type Started<Connection> =
  | { readonly kind: 'connected'; readonly connection: Connection }
  /** A supervisor that must not serve this home, and told why in a line of JSON. */
  | { readonly kind: 'refused'; readonly line: string }
  /** A sentence of why it ended or did not listen in time, with the last lines of its log. */
  | { readonly kind: 'failed'; readonly message: string };

/**
 * The socket once it is connected; undefined if nothing listens there: there is no socket, or one
 * left by a dead supervisor. @throws (rejects) the system's error otherwise
 */
export function listened(socket: Socket): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT' || cause.code === 'ECONNREFUSED') resolve(undefined);
      else reject(cause);
    });
  });
}

/** @param connect tries to connect to a supervisor of that home; undefined: none listens */
export async function startSupervisor<Connection>(
  start: SupervisorStart,
  connect: () => Promise<Connection | undefined>,
): Promise<Started<Connection>> {
  const logStart = rotateLog(start.log);
  const child = spawnSupervisor(start);
  const end = watchEnd(child);
  const deadline = performance.now() + START_DEADLINE_MS;
  const pauses = new GrowingPause({
    first: FIRST_PAUSE_MS,
    longest: LONGEST_PAUSE_MS,
  });
  for (;;) {
    // Checked before the attempt: if another process won the race for the home, ours
    // has ended, and the next attempt finds the winner.
    const ended = end.reason;
    const connection = await connect();
    if (connection !== undefined) return { kind: 'connected', connection };
    if (end.told.endsWith('\n')) return { kind: 'refused', line: end.told };
    if (ended !== undefined || performance.now() > deadline) {
      // It owns nothing yet: it reads the runs once it listens.
      child.kill('SIGKILL');
      const how = ended ?? `it did not listen within ${START_DEADLINE_MS / 1000} s`;
      const tail = logTail(start.log, logStart);
      const message = `the supervisor did not start: ${how}${tail === '' ? '' : `: ${tail}`}`;
      return { kind: 'failed', message };
    }
    await Promise.race([
      end.happened,
      new Promise((resolve) => setTimeout(resolve, pauses.next())),
    ]);
  }
}

function spawnSupervisor(start: SupervisorStart): ChildProcess {
  const { node, entry, home, socket, environment } = start;
  const log = openSync(start.log, 'a', 0o600);
  try {
    const child = spawn(
      node,
      [entry, '--home', home, '--socket', socket, '--started'],
      {
        argv0: 'gradwire supervisor',
        cwd: home,
        detached: true,
        env: { ...process.env, ...environment },
        stdio: ['ignore', log, log, 'pipe'],
        windowsHide: true,
      },
    );
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
}

interface StartEnd {
  /** The way the process ended; undefined while it runs. */
  readonly reason: string | undefined;
  /** The text that came so far of its reason for not serving this home, a line. */
  readonly told: string;
  readonly happened: Promise<void>;
}

function watchEnd(child: ChildProcess): StartEnd {
  let reason: string | undefined;
  let told = '';
  const line = child.stdio[3] as Socket | null | undefined;
  line?.setEncoding('utf8');
  line?.on('data', (text: string) => {
    told += text;
  });
  line?.on('error', () => undefined); // it has ended, which is reported below
  line?.unref();
  const happened = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      reason = error.message;
      resolve();
    });
    // After everything that it told.
    child.once('close', (code, signal) => {
      reason =
        signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`;
      resolve();
    });
  });
  return {
    get reason() {
      return reason;
    },
    get told() {
      return told;
    },
    happened,
  };
}

/** Keeps the log bounded, with one old generation. Returns the length of the current one. */
function rotateLog(file: string): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= LOG_LIMIT_BYTES) return size;
  renameSync(file, `${file}.1`);
  return 0;
}

function logTail(file: string, from: number): string {
  return readFileSync(file)
    .subarray(from)
    .toString('utf8')
    .trim()
    .split('\n')
    .slice(-LOG_TAIL_LINES)
    .join(' | ');
}
