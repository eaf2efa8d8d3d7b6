/** Memory in the arena that a kernel backend keeps for itself: it grows, never shrinks. */
import type { Arena, Region } from '../../memory/arena.ts';

export class Scratch {
  readonly #arena: Arena;
  #region: Region | undefined;

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
}
