/**
 * A rank's end of a connection to a process beside it: a Unix socket in a directory that only this
 * user can enter. One process connects to it, once.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { temporaryPlace } from '../../disk/temporary-directory.ts';
import type { FrameDecoder } from '../../shared/protocol/frame.ts';
import { encodeJson } from './json-frames.ts';

export interface SocketListener<In, Out extends object> {
  /** Decodes what the process sends. */
  readonly decoder: FrameDecoder<In>;
  /** Takes a message; what it throws ends the connection, as a message that cannot be decoded. */
  readonly received: (message: In) => void;
  /** The process is gone, or sent what is no message. */
  readonly lost: (error: unknown) => void;
  /** Tells the process why its connection ends; default: it is not told. */
  readonly refusal?: ((error: unknown) => Out) | undefined;
  /** Tells a second process that there is one already; default: it is not told. */
  readonly taken?: (() => Out) | undefined;
}

/** The path of a Unix socket has at most 107 bytes. */
const LONGEST_PLACE = 80;

export class PrivateSocket<In, Out extends object> {
  readonly #directory: string;
  readonly #listener: SocketListener<In, Out>;
  readonly #server: Server;
  #socket: Socket | undefined;
  #closed = false;

  private constructor(directory: string, listener: SocketListener<In, Out>) {
    this.#directory = directory;
    this.#listener = listener;
    this.#server = createServer((socket) => {
      this.#accept(socket);
    });
  }

  /** A path for a socket in a directory of its own, neither of which is there yet. */
  static newPath(): string {
    const place = temporaryPlace({ longest: LONGEST_PLACE });
    return path.join(place, `gradwire-${randomBytes(8).toString('hex')}`, 'bridge');
  }

  /** @param socket from `newPath` */
  static async listen<In, Out extends object>(
    socket: string,
    listener: SocketListener<In, Out>,
  ): Promise<PrivateSocket<In, Out>> {
    const directory = path.dirname(socket);
    await makeDirectory(directory, socket);
    // An exit without `close`; of one by a signal the guard takes care.
    process.once('exit', () => {
      rmSync(directory, { recursive: true, force: true });
    });
    const link = new PrivateSocket(directory, listener);
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject);
      link.#server.listen(socket, resolve);
    });
    return link;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  send(message: Out): void {
    if (this.#socket?.writable === true) this.#socket.write(encodeJson(message));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#server.close();
    this.#socket?.end();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #accept(socket: Socket): void {
    const { decoder, lost, received, refusal, taken } = this.#listener;
    if (this.#socket !== undefined) {
      socket.on('error', () => undefined);
      socket.end(taken === undefined ? '' : encodeJson(taken()));
      return;
    }
    this.#socket = socket;
    let isReading = true;
    const lose = (error: unknown): void => {
      if (!isReading || this.#closed) return;
      isReading = false;
      lost(error);
    };
    socket.on('data', (chunk: Buffer) => {
      if (!isReading) return;
      try {
        for (const message of decoder.push(chunk)) received(message);
      } catch (error) {
        if (refusal !== undefined) this.send(refusal(error));
        lose(error);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      lose(undefined);
    });
  }
}

/** Makes the socket's directory; a process that was killed with its guard has left it behind. */
async function makeDirectory(directory: string, socket: string): Promise<void> {
  try {
    mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST';
    if (!isThere || (await isServed(socket))) throw error;
    rmSync(directory, { recursive: true, force: true });
    mkdirSync(directory, { mode: 0o700 });
  }
}

async function isServed(socket: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const probe = connect(socket);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', () => {
      resolve(false);
    });
  });
}
