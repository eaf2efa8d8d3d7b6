/** The reduction kernels in obvious TypeScript: the oracle. */
import type { Arena, Region, Vector } from '../arena.ts';
import type { SparseStream } from '../kernels.ts';
import { requireSameLength, requireStreamCapacity } from '../preconditions.ts';
import {
  ABSENT_BITS,
  requireWithin,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';

const apply: Readonly<Record<ReduceOperation, (x: number, y: number) => number>> = {
  sum: (x, y) => x + y,
  min: Math.min,
  max: Math.max,
  prod: (x, y) => x * y,
};

export class ReferenceReduction implements ReductionKernels {
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  clear(operation: ReduceOperation, { offset, length }: Vector): void {
    this.#arena.u32(offset, length).fill(operation === 'sum' ? 0 : ABSENT_BITS);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    requireSameLength(out, x);
    for (let index = 0; index < x.length; index++) {
      this.#combineAt(operation, out.offset + 4 * index, x.offset + 4 * index);
    }
  }

  scatter(
    operation: ReduceOperation,
    out: Vector,
    start: number,
    { offset, count }: SparseStream,
  ): void {
    const indices = this.#arena.u32(offset, count);
    requireWithin(indices[0], indices[count - 1], start, out.length);
    for (const [position, index] of indices.entries()) {
      const value = offset + 4 * (count + position);
      this.#combineAt(operation, out.offset + 4 * (index - start), value);
    }
  }

  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
  ): SparseStream {
    requireStreamCapacity(out, a.count + b.count);
    const merged = new Map(this.#pairs(a));
    for (const [index, value] of this.#pairs(b)) {
      const before = merged.get(index);
      merged.set(index, before === undefined ? value : apply[operation](before, value));
    }
    const pairs = [...merged].sort(([i], [j]) => i - j);
    const count = pairs.length;
    this.#arena.u32(out.offset, count).set(pairs.map(([index]) => index));
    this.#arena
      .f32({ offset: out.offset + 4 * count, length: count })
      .set(pairs.map(([, value]) => value));
    return { offset: out.offset, count };
  }

  firstDisordered({ offset, count }: SparseStream, start: number, end: number): number {
    return this.#arena
      .u32(offset, count)
      .findIndex(
        (index, position, all) =>
          index < start ||
          index >= end ||
          (position > 0 && index <= all[position - 1]!),
      );
  }

  firstAtLeast({ offset, count }: SparseStream, bound: number): number {
    const found = this.#arena.u32(offset, count).findIndex((index) => index >= bound);
    return found < 0 ? count : found;
  }

  #combineAt(operation: ReduceOperation, out: number, x: number): void {
    const [mine] = this.#arena.u32(out, 1);
    const [theirs] = this.#arena.u32(x, 1);
    if (operation !== 'sum' && theirs === ABSENT_BITS) return;
    if (operation !== 'sum' && mine === ABSENT_BITS) {
      this.#arena.u32(out, 1)[0] = theirs!;
      return;
    }
    const value = this.#arena.f32({ offset: out, length: 1 });
    value[0] = apply[operation](
      value[0]!,
      this.#arena.f32({ offset: x, length: 1 })[0]!,
    );
  }

  #pairs({ offset, count }: SparseStream): [number, number][] {
    const values = this.#arena.f32({ offset: offset + 4 * count, length: count });
    return Array.from(this.#arena.u32(offset, count), (index, position) => [
      index,
      values[position]!,
    ]);
  }
}
