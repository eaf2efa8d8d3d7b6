/** Memory that native connections of one thread share for their system calls. */
import { CHUNK_BYTES, SEALED_HEADER_BYTES, TAG_BYTES } from './frame-seal.ts';
import type { Libc } from './libc.ts';
import { FRAME_HEADER_BYTES } from './message-frame.ts';
import { WORTH_KEEPING } from './receive-queue.ts';

/** Small enough that the receive queue copies what it keeps of it. */
export const STAGING_BYTES = WORTH_KEEPING / 2;
const MOST_VECTORS = 2;

/** Memory for socket calls, used only within one. */
export class SocketScratch {
  readonly libc: Libc;
  readonly staging = Buffer.alloc(STAGING_BYTES);
  readonly header = Buffer.alloc(FRAME_HEADER_BYTES);
  readonly stagingAddress: number;
  readonly headerAddress: number;
  readonly vectorsAddress: number;
  readonly #vectors = new Uint32Array(4 * MOST_VECTORS);
  #sealed: Buffer | undefined;

  constructor(libc: Libc) {
    this.libc = libc;
    this.stagingAddress = libc.address(this.staging);
    this.headerAddress = libc.address(this.header);
    this.vectorsAddress = libc.address(new Uint8Array(this.#vectors.buffer));
  }

  /** Pieces of at most a sealed chunk with its header, one after the other. */
  gather(pieces: readonly Uint8Array[]): Buffer {
    const sealed = (this.#sealed ??= Buffer.alloc(
      SEALED_HEADER_BYTES + CHUNK_BYTES + TAG_BYTES,
    ));
    let bytes = 0;
    for (const piece of pieces) {
      sealed.set(piece, bytes);
      bytes += piece.length;
    }
    return sealed.subarray(0, bytes);
  }

  /** struct iovec: address and length, 64 bits each, little-endian on both systems. */
  setVector(index: number, address: number, bytes: number): void {
    const at = 4 * index;
    this.#vectors[at] = address >>> 0;
    this.#vectors[at + 1] = Math.floor(address / 2 ** 32);
    this.#vectors[at + 2] = bytes;
    this.#vectors[at + 3] = 0;
  }
}
