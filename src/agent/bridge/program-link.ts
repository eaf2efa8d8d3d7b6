/**
 * A rank's end of the bridge: a Unix socket in a directory that only this user can enter. One
 * program connects to it, once.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { failure, toErrorData } from '../../shared/errors/errors.ts';
import {
  BRIDGE_VERSION,
  encodeMessage,
  programDecoder,
  type FromProgram,
  type ToProgram,
} from './messages.ts';

export interface LinkListener {
  readonly received: (message: FromProgram) => void;
  /** The program is gone, or sent what is no message. */
  readonly lost: (error: unknown) => void;
}

/** The path of a Unix socket has at most 107 bytes. */
const LONGEST_PLACE = 80;

export class ProgramLink {
  readonly #rank: number;
  readonly #directory: string;
  readonly #listener: LinkListener;
  readonly #server: Server;
  #socket: Socket | undefined;
  #closed = false;

  private constructor(rank: number, directory: string, listener: LinkListener) {
    this.#rank = rank;
    this.#directory = directory;
    this.#listener = listener;
    this.#server = createServer((socket) => {
      this.#accept(socket);
    });
  }

  /** A path for a socket in a directory of its own, neither of which is there yet. */
  static newPath(): string {
    const place = tmpdir().length > LONGEST_PLACE ? '/tmp' : tmpdir();
    return path.join(place, `gradwire-${randomBytes(8).toString('hex')}`, 'bridge');
  }

  /** @param socket from `newPath` */
  static async listen(
    socket: string,
    rank: number,
    listener: LinkListener,
  ): Promise<ProgramLink> {
    const directory = path.dirname(socket);
    mkdirSync(directory, { mode: 0o700 });
    // An exit without `close`; of one by a signal the guard takes care.
    process.once('exit', () => {
      rmSync(directory, { recursive: true, force: true });
    });
    const link = new ProgramLink(rank, directory, listener);
    await new Promise<void>((resolve, reject) => {
      link.#server.once('error', reject);
      link.#server.listen(socket, resolve);
    });
    return link;
  }

  get isConnected(): boolean {
    return this.#socket !== undefined;
  }

  send(message: ToProgram): void {
    if (this.#socket?.writable === true) this.#socket.write(encodeMessage(message));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#server.close();
    this.#socket?.end();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #accept(socket: Socket): void {
    if (this.#socket !== undefined) {
      const message = 'a second process of the program wants to join as this rank';
      const next = 'Call gradwire.join() in one process of each rank.';
      const error = failure('BRIDGE_TAKEN', message, { rank: this.#rank, next });
      socket.on('error', () => undefined);
      socket.end(encodeMessage({ type: 'failed', error: error.toData() }));
      return;
    }
    this.#socket = socket;
    const decoder = programDecoder(this.#rank);
    let isReading = true;
    const lose = (error: unknown): void => {
      if (!isReading || this.#closed) return;
      isReading = false;
      this.#listener.lost(error);
    };
    socket.on('data', (chunk: Buffer) => {
      if (!isReading) return;
      try {
        for (const message of decoder.push(chunk)) this.#take(message);
      } catch (error) {
        this.send({ type: 'failed', error: toErrorData(error) });
        lose(error);
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      lose(undefined);
    });
  }

  /** @throws GradwireError `BRIDGE_VERSION` */
  #take(message: FromProgram): void {
    if (message.type === 'hello' && message.version !== BRIDGE_VERSION) {
      const versions = `${message.version}, and that of this agent ${BRIDGE_VERSION}`;
      throw failure(
        'BRIDGE_VERSION',
        `the program's gradwire speaks version ${versions}`,
        {
          rank: this.#rank,
          next: 'Install the package gradwire of the same version as the app.',
        },
      );
    }
    this.#listener.received(message);
  }
}
