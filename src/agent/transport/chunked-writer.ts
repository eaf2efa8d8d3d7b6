/**
 * Messages on their way into a connection that takes them chunk by chunk, because they are
 * sealed or because an emulated link has room for so much: each chunk when the last has
 * left, so that a large message needs the memory of a chunk or two. First come, first
 * served: records are numbered in the order in which they leave.
 */
import type { ErrorData } from '../../shared/errors.ts';
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
 * Takes pieces, which are to leave in order. Sealed ones may be kept; those in the clear
 * are the sender's memory. Returns false where no more should come until `drained`.
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
   * @param keys undefined: in the clear, and `put` copies
   * @param chunkBytes of data in the clear at once
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
   * Returns true where `data` may be reused at once; otherwise `flushed` is called when
   * it may.
   */
  write(message: MessageHeader, data: Uint8Array, flushed: () => void): boolean {
    const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
    encodeFrameHeader(header, 'data', message, data.length);
    return this.#send(header, data, flushed);
  }

  /** Bytes that a message of this length takes beside its own. */
  framing(length: number): number {
    return this.#sealer === undefined ? FRAME_HEADER_BYTES : sealedFraming(length);
  }

  /** Appends it. Returns the bytes that it takes on the wire. */
  writeAbort(error: ErrorData): number {
    const frame = encodeAbortFrame(error);
    const body = frame.subarray(FRAME_HEADER_BYTES);
    this.#send(frame.subarray(0, FRAME_HEADER_BYTES), body, nobodyWaits);
    return this.framing(body.length) + body.length;
  }

  /** What was put has left. */
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

  /** Forget what has not left: the connection is gone. */
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

  /** Seal and put what may be put now; whether that was all of it. */
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
 * What writes the messages of a connection chunk by chunk; undefined where they go to the
 * socket whole.
 * @param lane of an emulated link, where it is one
 * @param put to the socket, where it is none
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
