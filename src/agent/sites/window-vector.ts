/** A bucket's elements of a vector outside of the arena, and the window that they are copied to. */
import type { Arena, Vector } from '../memory/arena.ts';
import type { Bucket } from '../plan/buckets.ts';

export class WindowVector {
  readonly vector: Vector;
  readonly #pieces: readonly {
    readonly inside: Float32Array;
    readonly outside: Float32Array;
  }[];

  /** @param offset of the window in the arena */
  constructor(arena: Arena, offset: number, flat: Float32Array, bucket: Bucket) {
    this.vector = { offset, length: bucket.length };
    this.#pieces = bucket.runs.map((run) => ({
      inside: arena.f32({ offset: offset + 4 * run.start, length: run.length }),
      outside: flat.subarray(run.flat, run.flat + run.length),
    }));
  }

  /** Copies the elements to the window. */
  load(): void {
    for (const { inside, outside } of this.#pieces) inside.set(outside);
  }

  /** Copies them back. */
  store(): void {
    for (const { inside, outside } of this.#pieces) outside.set(inside);
  }
}
