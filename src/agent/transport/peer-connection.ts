/**
 * One established connection: frames out, frames in, and what has been counted. It knows
 * nothing of deadlines or of the other ranks; `tcp-transport.ts` does.
 */
import type { Socket } from 'node:net';
import { FrameReader } from './frame-reader.ts';
import {
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from './message-frame.ts';
import { ReceiveQueue, type ReceiveEvents } from './receive-queue.ts';
import type { ErrorData } from '../../shared/errors.ts';
import type { MessageHeader } from './transport.ts';

/** Messages up to this size are copied behind their header: one buffer, one write. */
const COPY_BYTES = 4096;
/** More than this in the socket's queue, and a copied message waits for the peer too. */
const QUEUE_BYTES = 2 ** 20;

/** Beyond this many bytes of messages that nobody asked for, the socket is not read. */
export interface BacklogLimits {
  readonly pauseBytes: number;
  /** Reading goes on while a receive waits, up to here: then the run fails. */
  readonly failBytes: number;
}

export interface PeerEvents extends ReceiveEvents {
  /** A chunk has come: returns the end of the synchronous work on it. */
  reading(): () => void;
  /** The chunk has been dealt with. */
  read(peer: PeerConnection): void;
  /** What the peer sent cannot be, or is not what is expected. */
  broken(peer: PeerConnection, cause: unknown): void;
  /** No byte will come any more. */
  gone(peer: PeerConnection): void;
}

export class PeerConnection {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  /** Why the socket failed, where it did. */
  trouble: string | undefined;
  readonly #socket: Socket;
  #gone = false;
  /** After a failure: what still comes is read and forgotten, so that peers can end. */
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

  /** Whether the connection has ended, from either side. */
  get gone(): boolean {
    return this.#gone;
  }

  get socketBytes(): { readonly sent: number; readonly received: number } {
    return { sent: this.#socket.bytesWritten, received: this.#socket.bytesRead };
  }

  /**
   * Write one message. Returns true where `data` may be reused at once; otherwise
   * `flushed` is called when it may.
   */
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

  /** Returns the bytes written. */
  writeAbort(error: ErrorData): number {
    if (this.#gone || !this.#socket.writable) return 0;
    const frame = encodeAbortFrame(error);
    this.#socket.write(frame);
    return frame.length;
  }

  /** Leave the socket unread, so that the peer must wait; or read on. */
  setPaused(paused: boolean): void {
    if (paused === this.#socket.isPaused()) return;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }

  /** From now on read and forget. */
  ignore(): void {
    this.#deaf = true;
    this.queue.clear();
    if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** Flush, then say that no more will come. */
  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}
