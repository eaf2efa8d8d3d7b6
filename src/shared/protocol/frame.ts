/**
 * Length-prefixed MessagePack: u32 little-endian length, then the body. The decoder is a
 * state machine over arbitrary chunks; a frame over the limit is a coded error before
 * any of its body is kept.
 */
import { Packr } from 'msgpackr';
import { failure } from '../errors.ts';

export const MAX_CONTROL_FRAME_BYTES = 16 * 2 ** 20;

// Plain maps without shared record structures: every frame can be read on its own, in
// any process and after any restart.
const packr = new Packr({ useRecords: false, encodeUndefinedAsNil: false });

export function encodeFrame(message: unknown): Uint8Array {
  const body = packr.pack(message);
  const frame = new Uint8Array(4 + body.length);
  new DataView(frame.buffer).setUint32(0, body.length, true);
  frame.set(body, 4);
  return frame;
}

export class FrameDecoder {
  #pending: Uint8Array = new Uint8Array(0);
  readonly #limit: number;

  constructor(limit = MAX_CONTROL_FRAME_BYTES) {
    this.#limit = limit;
  }

  /** Bytes of a frame that has begun but not ended. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  /**
   * Feed a chunk; yields every message that it completes.
   * @throws GradwireError `FRAME_TOO_LARGE`, `FRAME_INVALID`
   */
  *push(chunk: Uint8Array): Generator {
    let data = chunk;
    if (this.#pending.length > 0) {
      data = new Uint8Array(this.#pending.length + chunk.length);
      data.set(this.#pending);
      data.set(chunk, this.#pending.length);
      this.#pending = new Uint8Array(0);
    }
    let offset = 0;
    while (data.length - offset >= 4) {
      const length = new DataView(data.buffer, data.byteOffset + offset, 4).getUint32(
        0,
        true,
      );
      if (length > this.#limit) {
        throw failure('FRAME_TOO_LARGE', `control frame of ${length} bytes`, {
          next: `The limit is ${this.#limit} bytes: is the peer a Gradwire agent?`,
        });
      }
      if (data.length - offset - 4 < length) break;
      const body = data.subarray(offset + 4, offset + 4 + length);
      offset += 4 + length;
      yield decodeBody(body);
    }
    if (offset < data.length) this.#pending = data.slice(offset);
  }
}

function decodeBody(body: Uint8Array): unknown {
  try {
    return packr.unpack(body);
  } catch (cause) {
    throw failure(
      'FRAME_INVALID',
      `control frame is not MessagePack: ${String(cause)}`,
    );
  }
}
