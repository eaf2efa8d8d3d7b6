/**
 * Work of the CPU's kernels on vectors outside of the arena, between exchanges: piece by piece, on
 * copies in the arena.
 */
import type { Kernels } from '../kernels/kernels.ts';
import type { Arena, Region, Vector } from '../memory/arena.ts';
import { DESK_LENGTH } from '../plan/windows.ts';
import type { FlatRange } from '../plan/residual-transition.ts';

export class WindowDesk implements Disposable {
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #first: Region & Vector;
  readonly #second: Region & Vector;

  constructor(arena: Arena, kernels: Kernels) {
    this.#arena = arena;
    this.#kernels = kernels;
    this.#first = arena.allocateVector(DESK_LENGTH);
    this.#second = arena.allocateVector(DESK_LENGTH);
  }

  /** out ← out + x, in the ranges */
  add(out: Float32Array, x: Float32Array, ranges: readonly FlatRange[]): void {
    for (const range of pieces(ranges)) {
      const to = this.#load(this.#first, out, range);
      this.#kernels.add(to, this.#load(this.#second, x, range));
      this.#store(to, out, range);
    }
  }

  /** x ← x · factor */
  scale(x: Float32Array, factor: number): void {
    for (const range of pieces(wholeOf(x))) {
      const at = this.#load(this.#first, x, range);
      this.#kernels.scale(at, factor);
      this.#store(at, x, range);
    }
  }

  /** ‖x‖², of the elements in the ranges if given. */
  squaredNorm(x: Float32Array, ranges = wholeOf(x)): number {
    return pieces(ranges).reduce(
      (sum, range) =>
        sum + this.#kernels.squaredNorm(this.#load(this.#first, x, range)),
      0,
    );
  }

  /** The squares that fixed-point sums have; undefined where an element is not finite. */
  finiteSquares(x: Float32Array, squares: (x: Vector) => number): number | undefined {
    let sum = 0;
    for (const range of pieces(wholeOf(x))) {
      const at = this.#load(this.#first, x, range);
      if (this.#kernels.firstNonFinite(at) >= 0) return undefined;
      sum += squares(at);
    }
    return sum;
  }

  /** Works on a copy of each piece in turn, of the ranges if given, and writes it back. */
  async inArena(
    x: Float32Array,
    work: (vector: Vector) => Promise<void>,
    ranges = wholeOf(x),
  ): Promise<void> {
    for (const range of pieces(ranges)) {
      const at = this.#load(this.#first, x, range);
      await work(at);
      this.#store(at, x, range);
    }
  }

  [Symbol.dispose](): void {
    this.#arena.release(this.#first);
    this.#arena.release(this.#second);
  }

  #load({ offset }: Vector, x: Float32Array, { length, start }: FlatRange): Vector {
    const at = { offset, length };
    this.#arena.f32(at).set(x.subarray(start, start + length));
    return at;
  }

  #store(at: Vector, x: Float32Array, { start }: FlatRange): void {
    x.set(this.#arena.f32(at), start);
  }
}

const wholeOf = ({ length }: Float32Array): readonly FlatRange[] => [
  { start: 0, length },
];

/** The ranges, none longer than the desk. */
const pieces = (ranges: readonly FlatRange[]): readonly FlatRange[] =>
  ranges.flatMap(({ length, start }) =>
    Array.from({ length: Math.ceil(length / DESK_LENGTH) }, (_, i) => ({
      start: start + i * DESK_LENGTH,
      length: Math.min(DESK_LENGTH, length - i * DESK_LENGTH),
    })),
  );
