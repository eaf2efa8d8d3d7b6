/** A connection on `node:net`, which every platform has. */
import type { Socket } from 'node:net';
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { Lane } from '../emulation/lane.ts';
import type { LaneMaker } from '../emulation/rank-cards.ts';
import { writerFor, type ChunkedWriter } from './chunked-writer.ts';
import type { ByteReader } from './frame-reader.ts';
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
import type { MessageHeader } from './transport.ts';

export class TcpConnection implements PeerConnection {
  readonly rank: number;
  readonly queue: ReceiveQueue;
  readonly closed: Promise<void>;
  trouble: string | undefined;
  readonly #socket: Socket;
  /** Writes messages in chunks; undefined: they go to the socket whole. */
  readonly #writer: ChunkedWriter | undefined;
  /** Lane of the emulated network; undefined: the network is the real one. */
  readonly #lane: Lane | undefined;
  #gone = false;
  #deaf = false;
  #paused = false;
  #full = false;

  /**
   * @param link after its handshake, nothing beyond it read. Owned from here on.
   * @param card for messages to the peer, if the network is emulated
   */
  constructor(
    rank: number,
    { peer, socket, keys }: MeshLink,
    events: PeerEvents,
    card?: LaneMaker,
  ) {
    this.rank = peer;
    this.queue = new ReceiveQueue(rank, peer, events);
    this.#socket = socket;
    const frames = readerFor(keys, this.queue, peer);
    const take = (reader: ByteReader, bytes: Buffer): void => {
      if (this.#deaf) return;
      const end = events.reading();
      try {
        reader.push(bytes);
      } catch (cause) {
        events.broken(this, cause);
      }
      end();
      events.read(this);
    };
    const lane = card?.connect({
      put: (segment, taken) => socket.write(segment, taken),
      deliver: (bytes) => {
        take(frames, bytes);
      },
      setFull: (full) => {
        this.#full = full;
        this.#regulate();
      },
    });
    this.#lane = lane;
    const reader = lane?.reader ?? frames;
    const writer = writerFor(keys, lane, (pieces) => putPieces(socket, pieces));
    this.#writer = writer;
    socket.on('drain', () => {
      if (lane === undefined) writer?.drained();
      else lane.drained();
    });
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.closed = promise.then(() => undefined);
    const goneNow = (): void => {
      if (this.#gone) return;
      this.#gone = true;
      writer?.clear();
      lane?.drop();
      events.gone(this);
    };
    const leave = (): void => {
      // Data received before the end is still being delivered.
      if (lane === undefined) goneNow();
      else lane.end(goneNow);
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
      take(reader, chunk);
    });
    socket.resume();
  }

  get gone(): boolean {
    return this.#gone;
  }

  get socketBytes(): { readonly sent: number; readonly received: number } {
    const { sent = 0, received = 0 } = this.#lane?.headers ?? {};
    return {
      sent: this.#socket.bytesWritten - sent,
      received: this.#socket.bytesRead - received,
    };
  }

  framing(length: number): number {
    return this.#writer?.framing(length) ?? FRAME_HEADER_BYTES;
  }

  write(header: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    if (this.#writer !== undefined) return this.#writer.write(header, data, flushed);
    const socket = this.#socket;
    const length = data.length;
    // A write that fails closes the socket, which `gone` reports.
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
    // The queue is empty: the system has accepted every byte, so the callback adds
    // nothing.
    return socket.writableLength === 0;
  }

  writeAbort(error: ErrorData): number {
    if (this.#gone || !this.#socket.writable) return 0;
    if (this.#writer !== undefined) return this.#writer.writeAbort(error);
    const frame = encodeAbortFrame(error);
    this.#socket.write(frame);
    return frame.length;
  }

  expect(): void {
    // The event loop reports every chunk.
  }

  setPaused(paused: boolean): void {
    this.#paused = paused;
    this.#regulate();
  }

  ignore(): void {
    this.#deaf = true;
    this.queue.clear();
    this.#lane?.clear();
    this.setPaused(false);
  }

  end(): void {
    const end = (): void => {
      this.#socket.end();
    };
    if (this.#writer === undefined) end();
    else this.#writer.end(end);
  }

  destroy(): void {
    this.#lane?.clear();
    this.#socket.destroy();
  }

  #regulate(): void {
    const paused = this.#paused || this.#full;
    if (paused === this.#socket.isPaused()) return;
    if (paused) this.#socket.pause();
    else this.#socket.resume();
  }
}

/** Whether there is room for more; otherwise `drain` reports when there is. */
function putPieces(socket: Socket, pieces: readonly Uint8Array[]): boolean {
  let room = true;
  socket.cork();
  for (const piece of pieces) room = socket.write(piece);
  socket.uncork();
  return room || socket.writableLength === 0;
}
