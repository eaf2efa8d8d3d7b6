/**
 * Writes messages to a connection chunk by chunk, because they are encrypted or because
 * an emulated link has limited room; each chunk follows when the previous one has been
 * sent, so that a large message needs the memory of a chunk or two. First come, first
 * served: records are numbered in the order in which they are sent.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { Lane } from '../emulation/lane.ts';
import type { ConnectionKeys } from './connection-keys.ts';
import { CHUNK_BYTES, FrameSealer, sealedFraming } from './frame-seal.ts';
import {
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from './message-frame.ts';
import type { MessageHeader } from './transport.ts';

interface Outgoing {
  /** The frame's header, until it has been put. */
  header: Buffer | undefined;
  readonly data: Uint8Array;
  /** Bytes of the data that have been put. */
  done: number;
  readonly flushed: () => void;
}

/**
 * Accepts pieces to send in order. Encrypted pieces may be kept; plain ones are the
 * sender's memory. Returns false if the caller should wait for `drained`.
 */
export type PutPieces = (pieces: readonly Uint8Array[]) => boolean;

export class ChunkedWriter {
  readonly #sealer: FrameSealer | undefined;
  readonly #put: PutPieces;
  readonly #chunkBytes: number;
  readonly #queue: Outgoing[] = [];
  #blocked = false;
  #ended: (() => void) | undefined;

  /**
   * @param keys undefined: unencrypted, and `put` copies
   * @param chunkBytes plain data written at once
   */
  constructor(
    keys: ConnectionKeys | undefined,
    put: PutPieces,
    chunkBytes = CHUNK_BYTES,
  ) {
    this.#sealer = keys && new FrameSealer(keys.send);
    this.#chunkBytes = keys === undefined ? chunkBytes : CHUNK_BYTES;
    this.#put = put;
  }

  /**
   * Returns true if `data` may be reused at once; otherwise `flushed` is called when it
   * may.
   */
  write(message: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    encodeFrameHeader(header, 'data', message, data.length);
    return this.#send(header, data, flushed);
  }

  /** Bytes on the wire besides those of a message of this length. */
  framing(length: number): number {
    return this.#sealer === undefined ? FRAME_HEADER_BYTES : sealedFraming(length);
  }

  /** Appends an abort frame. Returns its bytes on the wire. */
  writeAbort(error: ErrorData): number {
    const frame = encodeAbortFrame(error);
    const body = frame.subarray(FRAME_HEADER_BYTES);
    this.#send(frame.subarray(0, FRAME_HEADER_BYTES), body, nobodyWaits);
    return this.framing(body.length) + body.length;
  }

  /** Writes on, now that everything put so far has been sent. */
  drained(): void {
    this.#blocked = false;
    for (;;) {
      const [first] = this.#queue;
      if (first === undefined) {
        const ended = this.#ended;
        this.#ended = undefined;
        ended?.();
        return;
      }
      if (this.#blocked || !this.#advance(first)) return;
      this.#queue.shift();
      first.flushed();
    }
  }

  /** Calls back when everything written has been put: at once if it has. */
  end(ended: () => void): void {
    if (this.#queue.length === 0) ended();
    else this.#ended = ended;
  }

  /** Forgets what has not been sent: the connection is gone. */
  clear(): void {
    this.#queue.length = 0;
    this.#ended = undefined;
  }

  #send(header: Buffer, data: Uint8Array, flushed: () => void): boolean {
    const outgoing: Outgoing = { header, data, done: 0, flushed };
    if (this.#queue.length === 0 && !this.#blocked && this.#advance(outgoing)) {
      return true;
    }
    this.#queue.push(outgoing);
    return false;
  }

  /** Seals and puts what may be put now; returns whether that was everything. */
  #advance(outgoing: Outgoing): boolean {
    const { data } = outgoing;
    for (;;) {
      const pieces: Uint8Array[] = [];
      const { header } = outgoing;
      if (header !== undefined) {
        pieces.push(header);
        if (this.#sealer !== undefined) pieces.push(this.#sealer.header(header));
        outgoing.header = undefined;
      }
      if (outgoing.done < data.length) {
        const end = Math.min(outgoing.done + this.#chunkBytes, data.length);
        const chunk = data.subarray(outgoing.done, end);
        if (this.#sealer === undefined) pieces.push(chunk);
        else pieces.push(...this.#sealer.chunk(chunk));
        outgoing.done = end;
      }
      if (!this.#put(pieces)) this.#blocked = true;
      if (outgoing.done === data.length) return true;
      if (this.#blocked) return false;
    }
  }
}

function nobodyWaits(): void {
  // An abort frame's memory is its own.
}

/**
 * The chunked writer of a connection; undefined if messages go to the socket whole.
 * @param lane the emulated link's lane, if the network is emulated
 * @param put writes to the socket otherwise
 */
export function writerFor(
  keys: ConnectionKeys | undefined,
  lane: Lane | undefined,
  put: PutPieces,
): ChunkedWriter | undefined {
  if (lane === undefined) return keys && new ChunkedWriter(keys, put);
  const { chunkBytes } = lane;
  const writer = new ChunkedWriter(keys, (pieces) => lane.put(pieces), chunkBytes);
  lane.onRefill(() => {
    writer.drained();
  });
  return writer;
}
