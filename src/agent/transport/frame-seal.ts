/**
 * AES-256-GCM for one direction of a connection. A sealed frame on the wire:
 *
 *     | header, in the clear | tag | chunk 0 | tag | chunk 1 | tag | …
 *     |         32 B         | 16  | ≤ 64 KB | 16  |
 *
 * The header's record has no ciphertext: the header is its additional data, so that no
 * length is trusted before it is authenticated. Records are numbered throughout the
 * connection, and the number is the nonce: a record that was changed, dropped, repeated
 * or reordered fails to decrypt. Pure except for its count.
 */
import {
  createCipheriv,
  createDecipheriv,
  type CipherGCMTypes,
  type CipherGCMOptions,
} from 'node:crypto';
import { FRAME_HEADER_BYTES } from './message-frame.ts';

export const TAG_BYTES = 16;
export const SEALED_HEADER_BYTES = FRAME_HEADER_BYTES + TAG_BYTES;
/** Bytes encrypted at once, and kept back until their tag is verified. */
export const CHUNK_BYTES = 64 * 2 ** 10;

const ALGORITHM: CipherGCMTypes = 'aes-256-gcm';
const OPTIONS: CipherGCMOptions = { authTagLength: TAG_BYTES };
const NONCE_BYTES = 12;
const NO_BYTES = Buffer.alloc(0);

/** Bytes of a sealed frame that are not its body. */
export function sealedFraming(length: number): number {
  return SEALED_HEADER_BYTES + TAG_BYTES * Math.ceil(length / CHUNK_BYTES);
}

/** The numbers of a direction's records, as nonces. */
class NonceCount {
  readonly #nonce = Buffer.alloc(NONCE_BYTES);
  #count = 0;

  /** Returns the next nonce, valid until the next call. No connection lasts for 2⁵³ records. */
  next(): Buffer {
    this.#nonce.writeUInt32LE(this.#count >>> 0, 4);
    this.#nonce.writeUInt32LE(Math.floor(this.#count / 2 ** 32), 8);
    this.#count++;
    return this.#nonce;
  }
}

export class FrameSealer {
  readonly #key: Buffer;
  readonly #nonces = new NonceCount();

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** The tag that follows a header. */
  header(header: Buffer): Buffer {
    return this.#seal(header, NO_BYTES)[1];
  }

  /** Ciphertext and tag of a chunk, in new memory. */
  chunk(plain: Uint8Array): readonly [ciphertext: Buffer, tag: Buffer] {
    return this.#seal(undefined, plain);
  }

  #seal(additional: Buffer | undefined, plain: Uint8Array): [Buffer, Buffer] {
    const cipher = createCipheriv(ALGORITHM, this.#key, this.#nonces.next(), OPTIONS);
    if (additional !== undefined) cipher.setAAD(additional);
    const sealed = plain.length === 0 ? NO_BYTES : cipher.update(plain);
    cipher.final();
    return [sealed, cipher.getAuthTag()];
  }
}

export class FrameOpener {
  readonly #key: Buffer;
  readonly #nonces = new NonceCount();

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Whether the header and its tag, 48 bytes, are what the peer sent next. */
  header(sealed: Buffer): boolean {
    const header = sealed.subarray(0, FRAME_HEADER_BYTES);
    const tag = sealed.subarray(FRAME_HEADER_BYTES);
    return this.#open(header, NO_BYTES, tag) !== undefined;
  }

  /** The decrypted chunk; undefined if it is not what the peer sent next. */
  chunk(sealed: Buffer): Buffer | undefined {
    const end = sealed.length - TAG_BYTES;
    return this.#open(undefined, sealed.subarray(0, end), sealed.subarray(end));
  }

  #open(
    additional: Buffer | undefined,
    sealed: Buffer,
    tag: Buffer,
  ): Buffer | undefined {
    const decipher = createDecipheriv(
      ALGORITHM,
      this.#key,
      this.#nonces.next(),
      OPTIONS,
    );
    decipher.setAuthTag(tag);
    if (additional !== undefined) decipher.setAAD(additional);
    const plain = sealed.length === 0 ? NO_BYTES : decipher.update(sealed);
    try {
      decipher.final();
    } catch {
      // The error message that Node uses for a wrong tag; there is no error code for it.
      return undefined;
    }
    return plain;
  }
}
