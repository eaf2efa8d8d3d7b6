/**
 * The two formats on the control socket of an OpenSSH master: binary values of RFC 4251,
 * section 5, and length-prefixed frames.
 */
import { Buffer } from 'node:buffer';

/** Channel data comes in packets of 32 KiB, so a master never sends nearly this much. */
const LONGEST_FRAME = 2 ** 20;

export const byte = (value: number): Buffer => Buffer.from([value]);

export function uint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function string(value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return Buffer.concat([uint32(bytes.length), bytes]);
}

/** The written values as one frame. */
export function frame(...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([uint32(length), ...parts]);
}

/** Reads values one after another. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#take(1)[0]!;
  }

  uint32(): number {
    return this.#take(4).readUInt32BE();
  }

  string(): Buffer {
    return this.#take(this.uint32());
  }

  /** @throws Error if fewer bytes are left */
  #take(count: number): Buffer {
    if (this.#at + count > this.#bytes.length)
      throw new Error('a message is truncated');
    const taken = this.#bytes.subarray(this.#at, this.#at + count);
    this.#at += count;
    return taken;
  }
}

/** Cuts a stream of bytes into frames. */
export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that this chunk completes. @throws Error for one that is too long */
  *take(chunk: Buffer): Generator<Buffer, void, undefined> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= 4) {
      const length = this.#rest.readUInt32BE();
      if (length > LONGEST_FRAME) throw new Error(`a message of ${length} bytes`);
      if (this.#rest.length < 4 + length) return;
      const whole = this.#rest.subarray(4, 4 + length);
      this.#rest = this.#rest.subarray(4 + length);
      yield whole;
    }
  }
}
