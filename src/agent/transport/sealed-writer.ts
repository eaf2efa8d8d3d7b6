/**
 * Messages on their way into an encrypted connection: sealed chunk by chunk, each when the
 * last has left for the system, so that a large message needs the memory of a chunk or
 * two. First come, first served: records are numbered in the order in which they leave.
 */
import type { ErrorData } from '../../shared/errors.ts';
import type { ConnectionKeys } from './connection-keys.ts';
import { CHUNK_BYTES, FrameSealer, sealedFraming } from './frame-seal.ts';
import {
  encodeAbortFrame,
  encodeFrameHeader,
  FRAME_HEADER_BYTES,
} from './message-frame.ts';
import type { MessageHeader } from './transport.ts';

interface Outgoing {
  /** The frame's header, until it has been sealed. */
  header: Buffer | undefined;
  readonly data: Uint8Array;
  /** Bytes of the data that have been sealed. */
  sealed: number;
  readonly flushed: () => void;
}

/**
 * Takes pieces, which are to leave in order; they may be kept. Returns false where no
 * more should come until `drained`.
 */
export type PutPieces = (pieces: readonly Buffer[]) => boolean;

export class SealedWriter {
  readonly #sealer: FrameSealer;
  readonly #put: PutPieces;
  readonly #queue: Outgoing[] = [];
  #blocked = false;
  #ended: (() => void) | undefined;

  constructor(keys: ConnectionKeys, put: PutPieces) {
    this.#sealer = new FrameSealer(keys.send);
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

  /** Behind what was written. Returns the bytes that it takes on the wire. */
  writeAbort(error: ErrorData): number {
    const frame = encodeAbortFrame(error);
    const body = frame.subarray(FRAME_HEADER_BYTES);
    this.#send(frame.subarray(0, FRAME_HEADER_BYTES), body, nobodyWaits);
    return sealedFraming(body.length) + body.length;
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
    const outgoing: Outgoing = { header, data, sealed: 0, flushed };
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
      const pieces: Buffer[] = [];
      const { header } = outgoing;
      if (header !== undefined) {
        pieces.push(header, this.#sealer.header(header));
        outgoing.header = undefined;
      }
      if (outgoing.sealed < data.length) {
        const end = Math.min(outgoing.sealed + CHUNK_BYTES, data.length);
        pieces.push(...this.#sealer.chunk(data.subarray(outgoing.sealed, end)));
        outgoing.sealed = end;
      }
      if (!this.#put(pieces)) this.#blocked = true;
      if (outgoing.sealed === data.length) return true;
      if (this.#blocked) return false;
    }
  }
}

function nobodyWaits(): void {
  // An abort frame's memory is its own.
}
