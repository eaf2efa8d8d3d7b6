/**
 * Length-prefixed MessagePack: u32 little-endian length, then the body. The decoder is a
 * state machine over arbitrary chunks; a frame over the limit is a coded error before
 * any of its body is kept.
 */
import { Packr } from 'msgpackr';
import { failure } from '../errors/errors.ts';

export const MAX_CONTROL_FRAME_BYTES = 16 * 2 ** 20;

// Plain maps without shared record structures: every frame can be read on its own, in
// any process and after any restart.
const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: false });

export function encodeFrame(message: unknown): Uint8Array {
  return frameOf(packr.pack(message));
}

/** A frame whose body is already packed. */
export function frameOf(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(4 + body.length);
  new DataView(frame.buffer).setUint32(0, body.length, true);
  frame.set(body, 4);
  return frame;
}

export class FrameDecoder<T = unknown> {
  /** The pieces received of an incomplete frame. */
  #pieces: Uint8Array[] = [];
  #pendingBytes = 0;
  /** Bytes needed before anything can be decoded. */
  #wantedBytes = 0;
  #decodedBytes = 0;
  readonly #limit: number;
  readonly #decode: (body: Uint8Array) => T;

  /** @param decode turns a body, which may be overwritten afterwards, into a message */
  constructor(
    limit = MAX_CONTROL_FRAME_BYTES,
    decode: (body: Uint8Array) => T = decodeBody as (body: Uint8Array) => T,
  ) {
    this.#limit = limit;
    this.#decode = decode;
  }

  /** Bytes received of an incomplete frame. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** Bytes of all frames up to and including the last one yielded. */
  get decodedBytes(): number {
    return this.#decodedBytes;
  }

  /**
   * Feeds a chunk and yields every message that it completes. The chunk may be reused
   * afterwards. Every byte of a frame is copied at most twice, however small the chunks.
   * @throws GradwireError `FRAME_TOO_LARGE`, `FRAME_INVALID`
   */
  *push(chunk: Uint8Array): Generator<T, void, void> {
    let data = chunk;
    if (this.#pendingBytes > 0) {
      this.#keep(chunk, this.#wantedBytes);
      if (this.#pendingBytes < this.#wantedBytes) return;
      data = this.#takePieces();
    }
    let offset = 0;
    let wanted = 4;
    while (data.length - offset >= 4) {
      const length = new DataView(data.buffer, data.byteOffset + offset, 4).getUint32(
        0,
        true,
      );
      if (length > this.#limit) {
        throw failure('FRAME_TOO_LARGE', `control frame of ${length} bytes`, {
          next: `The limit is ${this.#limit} bytes. Check that the peer is a Gradwire agent.`,
        });
      }
      wanted = 4 + length;
      if (data.length - offset < wanted) break;
      const body = data.subarray(offset + 4, offset + wanted);
      const message = this.#decode(body);
      offset += wanted;
      this.#decodedBytes += wanted;
      wanted = 4;
      yield message;
    }
    if (offset < data.length) this.#keep(data.subarray(offset), wanted);
  }

  #keep(piece: Uint8Array, wanted: number): void {
    // Copy: a slice of a Buffer would be a view.
    this.#pieces.push(new Uint8Array(piece));
    this.#pendingBytes += piece.length;
    this.#wantedBytes = wanted;
  }

  #takePieces(): Uint8Array {
    const whole = new Uint8Array(this.#pendingBytes);
    let offset = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, offset);
      offset += piece.length;
    }
    this.#pieces = [];
    this.#pendingBytes = 0;
    return whole;
  }
}

/** @throws GradwireError `FRAME_INVALID` */
export function decodeBody(body: Uint8Array): unknown {
  try {
    return packr.unpack(body);
  } catch (cause) {
    throw failure(
      'FRAME_INVALID',
      `control frame is not MessagePack: ${String(cause)}`,
    );
  }
}
