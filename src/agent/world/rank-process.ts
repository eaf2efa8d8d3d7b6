/**
 * The parent's view of one rank's process: orders on its stdin, reports on file
 * descriptor 3, both as length-prefixed MessagePack. Every report and the end of the
 * process reach one listener. `rank-line.ts` is the other end.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { encodeFrame } from '../../shared/protocol/frame.ts';
import { systemLimit } from '../../shared/errors/system-limit.ts';
import { MemoryKills } from '../memory/memory-kills.ts';
import type { Parse } from './line-message.ts';
import { BY_LINE } from './rank-line.ts';
import { readReports } from './report-channel.ts';

/** The command: Node with one of our files. */
export interface RankCommand {
  readonly entry: string;
  readonly args: readonly string[];
  /** A prefix of the command, for instance to start it in a network namespace. */
  readonly prefix?: readonly string[];
  /**
   * Channel on which reports arrive. `stdout`: by line, because the prefix starts the process on
   * another machine and brings its descriptor 3 to our end as stdout; what it prints comes between
   * them. Default: descriptor 3.
   */
  readonly reports?: 'stdout' | undefined;
}

export interface RankChannel<Report> {
  /** Receives its output; by default only the tail of stderr is kept. */
  readonly printed?: ((stream: 'stdout' | 'stderr', bytes: Buffer) => void) | undefined;
  /** Checks a report. The first that is none breaks the process; the rest is not read. */
  readonly parse: Parse<Report>;
}

export interface ProcessExit {
  readonly type: 'exit';
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The tail of its output. */
  readonly stderr: string;
  /** The lack for which it may have been killed, if that is known. */
  readonly reason?: string | undefined;
}

/** The process did not start, or sent something that is not a report. */
export interface ProcessBroken {
  readonly type: 'broken';
  readonly error: ErrorData;
}

const STDERR_TAIL = 4096;
/** Time within which a process on another machine must have ended once it is killed. */
const FAR_KILL_MS = 10_000;

/**
 * Compiling a model's step leaves megabytes of garbage. With 8 MB for young objects from
 * the start instead of 1, there are few collections, and the two of the whole heap that
 * they cause in a short run are avoided. Unlike other options of V8 this one keeps
 * cached code of Node and ours valid.
 */
const NODE_OPTIONS = ['--min-semi-space-size=8'];

export class RankProcess<Order, Report> {
  readonly rank: number;
  /** Resolves when the process is gone and its last report has been read. */
  readonly closed: Promise<void>;
  /** The process; undefined if the system refused to start it. */
  readonly #child: ChildProcess | undefined;
  #stderr = '';
  #exited = false;
  readonly #isElsewhere: boolean;

  constructor(
    rank: number,
    { entry, args, prefix = [], reports }: RankCommand,
    listener: (event: Report | ProcessExit | ProcessBroken) => void,
    { printed, parse }: RankChannel<Report>,
  ) {
    this.rank = rank;
    const byLine = reports === 'stdout';
    const node = [process.execPath, ...NODE_OPTIONS, entry, ...args];
    if (byLine) node.push(BY_LINE);
    const [command, ...rest] = [...prefix, ...node];
    this.#isElsewhere = byLine;
    const closed = Promise.withResolvers<undefined>();
    this.closed = closed.promise;
    const broken = (error: unknown): void => {
      this.#exited = true;
      listener({ type: 'broken', error: notStarted(rank, error) });
      closed.resolve(undefined);
    };
    const kills = byLine ? undefined : new MemoryKills();
    let child: ChildProcess;
    try {
      child = spawn(command!, rest, {
        // Until the process has named itself. A prefix needs its own name.
        ...(prefix.length === 0 ? { argv0: 'gradwire worker' } : {}),
        stdio: byLine
          ? 'pipe'
          : ['pipe', printed === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      });
    } catch (error) {
      // As for refusals that come as events: not before this process is known.
      process.nextTick(broken, error);
      return;
    }
    child.on('error', (error) => {
      // Also if it cannot be killed; then it has started.
      if (child.pid === undefined) broken(error);
    });
    // A child that could not be started may have no streams.
    if (child.pid === undefined) return;
    this.#child = child;
    readReports((byLine ? child.stdout : child.stdio[3]) as Readable, byLine, {
      parse,
      heard: listener,
      printed: (bytes) => printed?.('stdout', bytes),
      broken: (error) => {
        listener({ type: 'broken', error: toErrorData(error) });
      },
    });
    const decoded = new StringDecoder('utf8');
    child.stderr?.on('data', (bytes: Buffer) => {
      this.#stderr = (this.#stderr + decoded.write(bytes)).slice(-STDERR_TAIL);
      printed?.('stderr', bytes);
    });
    if (!byLine) {
      child.stdout?.on('data', (bytes: Buffer) => {
        printed?.('stdout', bytes);
      });
    }
    // The process has just died; its exit is reported below.
    child.stdin?.on('error', () => undefined);
    // `close` comes after the last report has been read, `exit` may come before it.
    child.on('close', (code, signal) => {
      this.#exited = true;
      const reason = signal === 'SIGKILL' ? kills?.reason : undefined;
      listener({ type: 'exit', code, signal, stderr: this.#stderr, reason });
      closed.resolve(undefined);
    });
  }

  /** 0 if it did not start. */
  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Process id; undefined if the process is on another machine, or has ended. */
  get pidHere(): number | undefined {
    return this.#isElsewhere || this.#exited ? undefined : this.#child?.pid;
  }

  get exited(): boolean {
    return this.#exited;
  }

  send(order: Order): void {
    this.#child?.stdin?.write(encodeFrame(order));
  }

  /** Continues the process if it is suspended, so that it can obey an order. */
  continue(): void {
    if (this.#isElsewhere || process.platform === 'win32') return;
    this.#child?.kill('SIGCONT');
  }

  /** Kill at once: a rank holds nothing that its parent needs. */
  kill(): void {
    const child = this.#child;
    if (child === undefined) return;
    if (!this.#isElsewhere) {
      child.kill('SIGKILL');
      return;
    }
    // The remote starter needs time to end it there.
    child.stdin?.destroy();
    child.kill('SIGTERM');
    const last = setTimeout(() => child.kill('SIGKILL'), FAR_KILL_MS);
    last.unref();
    void this.closed.then(() => {
      clearTimeout(last);
    });
  }
}

function notStarted(rank: number, cause: unknown): ErrorData {
  const limit = systemLimit(cause);
  if (limit === undefined) return toErrorData(cause);
  return { ...limit, message: `rank ${rank} cannot be started: ${limit.message}` };
}
