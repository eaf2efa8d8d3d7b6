/** A connection on `node:net`: what is everywhere to be had. */
import type { Socket } from 'node:net';
import type { ErrorData } from '../../shared/errors.ts';
import { sealedFraming } from './frame-seal.ts';
import type { MeshLink } from './mesh-links.ts';
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
import { readerFor } from './sealed-reader.ts';
import { SealedWriter } from './sealed-writer.ts';
import type { MessageHeader } from './transport.ts';

export class TcpConnection implements PeerConnection {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  trouble: string | undefined;
  readonly #socket: Socket;
  /** Undefined: in the clear. */
  readonly #sealed: SealedWriter | undefined;
  #gone = false;
  #deaf = false;

  /** @param link after its handshake, nothing beyond it read. Owned from here on. */
  constructor(rank: number, { peer, socket, keys }: MeshLink, events: PeerEvents) {
    this.rank = peer;
    this.queue = new ReceiveQueue(rank, peer, events);
    this.#socket = socket;
    const reader = readerFor(keys, this.queue, peer);
    const sealed =
      keys && new SealedWriter(keys, (pieces) => putPieces(socket, pieces));
    this.#sealed = sealed;
    socket.on('drain', () => {
      sealed?.drained();
    });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.closed = promise.then(() => undefined);
    const leave = (): void => {
      if (this.#gone) return;
      this.#gone = true;
      sealed?.clear();
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

  framing(length: number): number {
    return this.#sealed === undefined ? FRAME_HEADER_BYTES : sealedFraming(length);
  }

  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    if (this.#sealed !== undefined) return this.#sealed.write(header, data, flushed);
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
    if (this.#sealed !== undefined) return this.#sealed.writeAbort(error);
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
    const end = (): void => {
      this.#socket.end();
    };
    if (this.#sealed === undefined) end();
    else this.#sealed.end(end);
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Whether there is room for more: else `drain` tells when there is. */
function putPieces(socket: Socket, pieces: readonly Buffer[]): boolean {
  let room = true;
  socket.cork();
  for (const piece of pieces) room = socket.write(piece);
  socket.uncork();
  return room || socket.writableLength === 0;
}
