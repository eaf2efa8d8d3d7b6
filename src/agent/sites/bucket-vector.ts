/**
 * A bucket's elements of a flat vector in one piece: a part of the vector if they are
 * contiguous, otherwise separate memory to and from which they are copied.
 */
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { Kernels } from '../kernels/kernels.ts';
import type { Bucket, BucketRun } from '../plan/buckets.ts';

export class BucketVector implements Disposable {
  readonly vector: Vector;
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #flat: Vector;
  /** The pieces to copy. */
  readonly #runs: readonly BucketRun[];
  readonly #own: Region | undefined;

  constructor(arena: Arena, kernels: Kernels, flat: Vector, bucket: Bucket) {
    const { length, runs } = bucket;
    this.#arena = arena;
    this.#kernels = kernels;
    this.#flat = flat;
    const [first] = runs;
    if (runs.length === 1) {
      this.vector = { offset: flat.offset + 4 * first!.flat, length };
      this.#runs = [];
    } else {
      this.#own = arena.allocateVector(length);
      this.vector = { offset: this.#own.offset, length };
      this.#runs = runs;
    }
  }

  /** Copies the elements from the flat vector. */
  load(): void {
    for (const { flat, start, length } of this.#runs) {
      this.#kernels.copy(at(this.vector, start, length), at(this.#flat, flat, length));
    }
  }

  /** Copies them back. */
  store(): void {
    for (const { flat, start, length } of this.#runs) {
      this.#kernels.copy(at(this.#flat, flat, length), at(this.vector, start, length));
    }
  }

  [Symbol.dispose](): void {
    if (this.#own !== undefined) this.#arena.release(this.#own);
  }
}

function at({ offset }: Vector, start: number, length: number): Vector {
  return { offset: offset + 4 * start, length };
}
