/** Memory in the arena that a kernel backend keeps for itself: it grows, never shrinks. */
import type { Arena, Region } from '../../memory/arena.ts';

export class Scratch {
  readonly #arena: Arena;
  #region: Region | undefined;
  #f64: Float64Array | undefined;
  #i64: BigInt64Array | undefined;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Offset of at least `bytes` bytes, whose content is not kept from call to call. */
  reserve(bytes: number): number {
    if (this.#region === undefined || this.#region.bytes < bytes) {
      if (this.#region !== undefined) this.#arena.release(this.#region);
      this.#region = this.#arena.allocate(bytes);
    }
    return this.#region.offset;
  }

  /** Returns at least `length` f64 to write and read, at its `byteOffset`. */
  f64(length: number): Float64Array {
    if (this.#f64 === undefined || this.#f64.length < length) {
      const offset = this.reserve(8 * length);
      this.#f64 = new Float64Array(this.#arena.buffer, offset, length);
    }
    return this.#f64;
  }

  /** Returns at least `length` i64 to write and read, at its `byteOffset`. */
  i64(length: number): BigInt64Array {
    if (this.#i64 === undefined || this.#i64.length < length) {
      const offset = this.reserve(8 * length);
      this.#i64 = new BigInt64Array(this.#arena.buffer, offset, length);
    }
    return this.#i64;
  }
}
