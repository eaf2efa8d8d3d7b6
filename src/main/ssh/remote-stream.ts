/**
 * A channel as an ordinary Node stream. ssh2's own channels break code written for
 * streams: `destroy` does not emit `close`, a write after the other side has closed never
 * calls back, and unread stderr stops stdout, because both share one window.
 */
import { Duplex } from 'node:stream';
import type { GradwireError } from '../../shared/errors/errors.ts';
import { isClosedOnPurpose } from './ssh-errors.ts';

export interface RemoteExit {
  /** Null if a signal ended it, or the server did not report it. */
  readonly code: number | null;
  /** `SIGTERM`, … */
  readonly signal: string | null;
}

/** The required interface of a channel: ssh2's, or one through the system's `ssh`. */
export interface RemoteChannel {
  readonly stderr?: { on(event: 'data', take: (chunk: Buffer) => void): unknown };
  on(event: 'data', take: (chunk: Buffer) => void): unknown;
  on(event: 'end', take: () => void): unknown;
  on(
    event: 'exit',
    take: (code: number | null, signal?: string | undefined) => void,
  ): unknown;
  once(event: 'close', take: () => void): unknown;
  removeListener(event: 'data', take: (chunk: Buffer) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  write(chunk: Buffer, done: (error?: Error | null) => void): unknown;
  end(): unknown;
  close(): unknown;
  signal(name: string): unknown;
  setWindow(rows: number, columns: number, height: number, width: number): unknown;
}

const STDERR_TAIL = 16_384;

export class RemoteStream extends Duplex {
  /** The remote command's end; rejects if the connection was lost first. It may be ignored. */
  readonly exit: Promise<RemoteExit>;
  readonly #channel: RemoteChannel;
  #stderr = Buffer.alloc(0);
  #remoteClosed = false;
  #ended = false;
  /** The callback of a write that has not been accepted yet, or never will be. */
  #writing: ((error?: Error) => void) | undefined;

  /** @param lost why the connection was lost, if it was */
  constructor(
    channel: RemoteChannel,
    lost: () => GradwireError | undefined,
    stderrLimit = STDERR_TAIL,
  ) {
    super();
    this.#channel = channel;
    const told: { exit?: RemoteExit } = {};
    channel.on('exit', (code, signal) => {
      told.exit = { code, signal: signal ?? null };
    });
    channel.on('data', this.#receive);
    channel.on('end', this.#endReading);
    channel.stderr?.on('data', (chunk) => {
      const both = Buffer.concat([this.#stderr, chunk]);
      this.#stderr = Buffer.from(both.subarray(Math.max(0, both.length - stderrLimit)));
    });
    this.exit = new Promise((resolve, reject) => {
      channel.once('close', () => {
        this.#remoteClosed = true;
        const error = lost();
        if (error !== undefined && told.exit === undefined) reject(error);
        else resolve(told.exit ?? { code: null, signal: null });
        this.#closed(error);
      });
    });
    this.exit.catch(() => undefined); // callers that need it await it
    this.once('end', () => {
      if (this.#remoteClosed) this.#finish();
    });
  }

  /** The tail of the command's stderr. */
  get stderr(): string {
    return this.#stderr.toString('utf8');
  }

  /** Sends the remote terminal's size. */
  protected setWindow(columns: number, rows: number): void {
    this.#channel.setWindow(rows, columns, 0, 0);
  }

  /** Sends a signal to the remote command, if the server supports it: `TERM`, `KILL`. */
  signal(name: string): void {
    if (!this.#remoteClosed) this.#channel.signal(name);
  }

  override _read(): void {
    this.#channel.resume();
  }

  override _write(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error?: Error | null) => void,
  ): void {
    this.#writing = done;
    if (this.#remoteClosed) {
      if (this.readableEnded) this.#finish();
      return;
    }
    this.#channel.write(chunk, (error) => {
      // The other side has closed, and the channel's `close` is on its way: it answers.
      if (isWriteAfterEnd(error)) return;
      this.#written(error ?? undefined);
    });
  }

  override _final(done: (error?: Error | null) => void): void {
    if (!this.#remoteClosed) this.#channel.end();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#channel.removeListener('data', this.#receive);
    // Discards further data, because the channel closes only once it has been read.
    this.#channel.resume();
    if (!this.#remoteClosed) this.#channel.close();
    this.#written(error ?? undefined);
    done(error);
  }

  readonly #receive = (chunk: Buffer): void => {
    if (!this.push(chunk)) this.#channel.pause();
  };

  readonly #endReading = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    this.push(null);
  };

  #closed(error: GradwireError | undefined): void {
    if (error !== undefined) {
      // We closed the connection ourselves, so there is no error to handle.
      this.destroy(isClosedOnPurpose(error) ? undefined : error);
      return;
    }
    this.#endReading();
    if (this.readableEnded) this.#finish();
  }

  /**
   * The other side has closed and everything it sent has been read. Not earlier: an error,
   * such as a write that is never accepted, discards unread data.
   */
  #finish(): void {
    if (this.#writing === undefined) this.destroy();
    else this.#written(closedByRemote());
  }

  #written(error: Error | undefined): void {
    const done = this.#writing;
    this.#writing = undefined;
    done?.(error);
  }
}

const isWriteAfterEnd = (error: NodeJS.ErrnoException | null | undefined): boolean =>
  error?.code === 'ERR_STREAM_WRITE_AFTER_END';

function closedByRemote(): NodeJS.ErrnoException {
  return Object.assign(new Error('the other side has closed the channel'), {
    code: 'EPIPE',
  });
}

/** A login shell at a terminal. */
export class RemoteShell extends RemoteStream {
  resize(columns: number, rows: number): void {
    this.setWindow(columns, rows);
  }
}
