/**
 * The supervisor of this computer: connects to a running one, or starts one. It is
 * detached, with a log file for its output, so that it outlives its starter; it ends by
 * itself when it has neither a client nor a live run.
 */
import { GrowingPause } from '../../shared/async/growing-pause.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { systemLimit } from '../../shared/errors/system-limit.ts';
import { toldError } from '../../shared/protocol/sent-error.ts';
import type { Home } from '../home/home.ts';
import { agentBundle } from '../home/installation.ts';
import { nodeBinary } from '../home/node-binary.ts';
import { connectTo } from '../home/socket-address.ts';
import { ControlConnection, type ConnectionHandlers } from './control-connection.ts';

/** Time limit from the start of the process until it listens. */
const START_DEADLINE_MS = 60_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;
const LOG_LIMIT_BYTES = 1_000_000;
const LOG_TAIL_LINES = 5;

/**
 * A connection to the supervisor on the home's socket, if one listens there.
 * @throws GradwireError `OPEN_FILES_LIMIT`, `PROTOCOL_MISMATCH`, `SUPERVISOR_TIMEOUT`, `SUPERVISOR_UNREACHABLE`
 */
export async function connectSupervisor(
  home: Home,
  handlers: ConnectionHandlers,
): Promise<ControlConnection | undefined> {
  const former = home.formerSocket;
  const socket =
    (await dial(home.socket)) ??
    (former === undefined ? undefined : await dial(former));
  if (socket === undefined) return undefined;
  try {
    return await ControlConnection.open(socket, handlers);
  } catch (error) {
    // It was shutting down and no longer listens.
    if (error instanceof GradwireError && error.code === 'SUPERVISOR_LOST') {
      return undefined;
    }
    throw error;
  }
}

/**
 * A connection to the home's supervisor, which is started if none listens.
 * @throws GradwireError as `connectSupervisor`, `SUPERVISOR_START_FAILED`, and why one must
 * not start: `HOME_HELD_ELSEWHERE`, `HOME_LOCK_DAMAGED`, `SUPERVISOR_UNREACHABLE`
 */
export async function ensureSupervisor(
  home: Home,
  handlers: ConnectionHandlers,
): Promise<ControlConnection> {
  const running = await connectSupervisor(home, handlers);
  if (running !== undefined) return running;

  const logStart = rotateLog(home.supervisorLog);
  const child = startSupervisor(home);
  const exit = watchExit(child);
  const deadline = performance.now() + START_DEADLINE_MS;
  const pauses = new GrowingPause({
    first: FIRST_PAUSE_MS,
    longest: LONGEST_PAUSE_MS,
  });
  for (;;) {
    // Checked before the attempt: if another process won the race for the home, ours
    // has ended, and the next attempt finds the winner.
    const ended = exit.reason;
    const connection = await connectSupervisor(home, handlers);
    if (connection !== undefined) return connection;
    if (exit.refusal !== undefined) throw new GradwireError(exit.refusal);
    if (ended !== undefined || performance.now() > deadline) {
      // It owns nothing yet: it reads the runs once it listens.
      child.kill('SIGKILL');
      const tail = logTail(home.supervisorLog, logStart);
      const how = ended ?? `it did not listen within ${START_DEADLINE_MS / 1000} s`;
      throw failure(
        'SUPERVISOR_START_FAILED',
        `the supervisor did not start: ${how}${tail === '' ? '' : `: ${tail}`}`,
        { place: home.socket, next: `Its log: ${home.supervisorLog}.` },
      );
    }
    await Promise.race([
      exit.happened,
      new Promise((resolve) => setTimeout(resolve, pauses.next())),
    ]);
  }
}

function dial(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connectTo(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.once('error', (cause: NodeJS.ErrnoException) => {
      // No socket, or one left by a dead supervisor.
      if (cause.code === 'ENOENT' || cause.code === 'ECONNREFUSED') resolve(undefined);
      else {
        const limit = systemLimit(cause);
        reject(
          limit === undefined
            ? failure('SUPERVISOR_UNREACHABLE', `cannot connect: ${cause.message}`, {
                place: path,
                next: 'Check that you may read and write the home directory.',
              })
            : new GradwireError({ ...limit, place: path }),
        );
      }
    });
  });
}

function startSupervisor(home: Home): ChildProcess {
  const log = openSync(home.supervisorLog, 'a', 0o600);
  try {
    const child = spawn(
      nodeBinary(),
      [
        agentBundle('supervisor.js'),
        ...['--home', home.directory, '--socket', home.socket, '--started'],
      ],
      {
        argv0: 'gradwire supervisor',
        cwd: home.directory,
        detached: true,
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
  /** The process's reason, in its own words, for not serving this home. */
  readonly refusal: ErrorData | undefined;
  readonly happened: Promise<void>;
}

function watchExit(child: ChildProcess): StartEnd {
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
    get refusal() {
      return refusalIn(told);
    },
    happened,
  };
}

/** The error that a starting supervisor has written; undefined if there is none, or only a part yet. */
function refusalIn(told: string): ErrorData | undefined {
  if (!told.endsWith('\n')) return undefined;
  return toldError(told);
}

/**
 * Keeps the log bounded, with one old generation. Returns the length of the current one.
 */
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
