/** Memory that native connections of one thread share for their system calls. */
import { CHUNK_BYTES, SEALED_HEADER_BYTES, TAG_BYTES } from './frame-seal.ts';
import type { Libc } from './libc.ts';
import { encodeFrameHeader, FRAME_HEADER_BYTES } from './message-frame.ts';
import { WORTH_KEEPING } from './receive-queue.ts';
import type { MessageHeader } from './transport.ts';

/** Small enough that the receive queue copies what it keeps of it. */
export const STAGING_BYTES = WORTH_KEEPING / 2;
const MOST_VECTORS = 2;

/** Memory for socket calls, used only within one. */
export class SocketScratch {
  readonly libc: Libc;
  readonly staging = Buffer.alloc(STAGING_BYTES);
  readonly #header = Buffer.alloc(FRAME_HEADER_BYTES);
  readonly #stagingAddress: number;
  readonly #headerAddress: number;
  readonly #vectorsAddress: number;
  readonly #vectors = new Uint32Array(4 * MOST_VECTORS);
  #sealed: Buffer | undefined;

  constructor(libc: Libc) {
    this.libc = libc;
    this.#stagingAddress = libc.address(this.staging);
    this.#headerAddress = libc.address(this.#header);
    this.#vectorsAddress = libc.address(new Uint8Array(this.#vectors.buffer));
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

  /**
   * Writes a message, its header and data gathered in place.
   * @returns the bytes that the system accepted; negative: an error
   */
  writeMessage(descriptor: number, header: MessageHeader, data: Uint8Array): number {
    const { length } = data;
    encodeFrameHeader(this.#header, 'data', header, length);
    this.#setVector(0, this.#headerAddress, FRAME_HEADER_BYTES);
    if (length > 0) this.#setVector(1, this.libc.address(data), length);
    return this.libc.writev(descriptor, this.#vectorsAddress, length > 0 ? 2 : 1);
  }

  /** Writes bytes. @returns as `writeMessage` */
  writeBytes(descriptor: number, bytes: Uint8Array): number {
    this.#setVector(0, this.libc.address(bytes), bytes.length);
    return this.libc.writev(descriptor, this.#vectorsAddress, 1);
  }

  /**
   * Reads to the first bytes of the room, and to the staging memory only what follows the
   * whole room; without a room all of it.
   * @param direct bytes for the room
   * @returns the bytes that came; 0: the end; negative: an error
   */
  read(descriptor: number, room: Uint8Array | undefined, direct: number): number {
    const { staging } = this;
    if (room === undefined) {
      return this.libc.recv(descriptor, this.#stagingAddress, staging.length);
    }
    this.#setVector(0, this.libc.address(room), direct);
    this.#setVector(1, this.#stagingAddress, staging.length);
    const count = direct === room.length ? 2 : 1;
    return this.libc.readv(descriptor, this.#vectorsAddress, count);
  }

  /** struct iovec: address and length, 64 bits each, little-endian on both systems. */
  #setVector(index: number, address: number, bytes: number): void {
    const at = 4 * index;
    this.#vectors[at] = address >>> 0;
    this.#vectors[at + 1] = Math.floor(address / 2 ** 32);
    this.#vectors[at + 2] = bytes;
    this.#vectors[at + 3] = 0;
  }
}
