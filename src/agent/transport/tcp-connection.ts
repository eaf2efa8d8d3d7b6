/** A connection on `node:net`: what is everywhere to be had. */
import type { Socket } from 'node:net';
import type { ErrorData } from '../../shared/errors.ts';
import { FrameReader } from './frame-reader.ts';
import {
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from './message-frame.ts';
import {
  COPY_BYTES,
  QUEUE_BYTES,
  type PeerConnection,
  type PeerEvents,
} from './peer-connection.ts';
import { ReceiveQueue } from './receive-queue.ts';
import type { MessageHeader } from './transport.ts';

export class TcpConnection implements PeerConnection {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  trouble: string | undefined;
  readonly #socket: Socket;
  #gone = false;
  #deaf = false;

  /** @param socket after its handshake, nothing beyond it read. Owned from here on. */
  constructor(rank: number, peer: number, socket: Socket, events: PeerEvents) {
    this.rank = peer;
    this.queue = new ReceiveQueue(rank, peer, events);
    this.#socket = socket;
    const reader = new FrameReader(this.queue);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.closed = promise.then(() => undefined);
    const leave = (): void => {
      if (this.#gone) return;
      this.#gone = true;
      events.gone(this);
    };
    socket.removeAllListeners('error');
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.trouble = error.code ?? error.message;
    });
    socket.on('end', leave);
    socket.on('close', () => {
      leave();
      resolve(undefined);
    });
    if (socket.destroyed) {
      this.#gone = true;
      resolve(undefined);
      return;
    }
    socket.on('data', (chunk: Buffer) => {
      if (this.#deaf) return;
      const end = events.reading();
      try {
        reader.push(chunk);
      } catch (cause) {
        events.broken(this, cause);
      }
      end();
      events.read(this);
    });
    socket.resume();
  }

  get gone(): boolean {
    return this.#gone;
  }

  get socketBytes(): { readonly sent: number; readonly received: number } {
    return { sent: this.#socket.bytesWritten, received: this.#socket.bytesRead };
  }

  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    const socket = this.#socket;
    const length = data.length;
    // A write that fails closes the socket: `gone` tells.
    const settle = (error?: Error | null): void => {
      if (error === undefined || error === null) flushed();
    };
    if (length <= COPY_BYTES) {
      const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + length);
      encodeFrameHeader(frame, 'data', header, length);
      frame.set(data, FRAME_HEADER_BYTES);
      if (socket.writableLength < QUEUE_BYTES) {
        socket.write(frame);
        return true;
      }
      socket.write(frame, settle);
      return false;
    }
    const prefix = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    encodeFrameHeader(prefix, 'data', header, length);
    socket.cork();
    socket.write(prefix);
    socket.write(Buffer.from(data.buffer, data.byteOffset, length), settle);
    socket.uncork();
    // The queue is empty: the system has taken every byte, the callback tells no more.
    return socket.writableLength === 0;
  }

  writeAbort(error: ErrorData): number {
    if (this.#gone || !this.#socket.writable) return 0;
    const frame = encodeAbortFrame(error);
    this.#socket.write(frame);
    return frame.length;
  }

  expect(): void {
    // The event loop tells of every chunk.
  }

  setPaused(paused: boolean): void {
    if (paused === this.#socket.isPaused()) return;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  ignore(): void {
    this.#deaf = true;
    this.queue.clear();
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
