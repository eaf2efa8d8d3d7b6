/** The reduction kernels in obvious TypeScript, of either type of value: the oracle. */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import {
  requireSameLength,
  requireStreamCapacity,
  requireWithin,
} from '../preconditions.ts';
import {
  ABSENT_BITS,
  type ReduceOperation,
  type ReductionKernels,
} from '../reduction.ts';
import {
  valueBytesOf,
  type ValueBytes,
  type ValueType,
} from '../../memory/value-type.ts';

const apply: Readonly<Record<ReduceOperation, (x: number, y: number) => number>> = {
  sum: (x, y) => x + y,
  min: Math.min,
  max: Math.max,
  prod: (x, y) => x * y,
};

export class ReferenceReduction implements ReductionKernels {
  readonly #arena: Arena;
  readonly #bytes: ValueBytes;

  constructor(arena: Arena, type: ValueType) {
    this.#arena = arena;
    this.#bytes = valueBytesOf(type);
  }

  clear(operation: ReduceOperation, { offset, length }: Vector): void {
    const words = (length * this.#bytes) / 4;
    this.#arena.u32(offset, words).fill(operation === 'sum' ? 0 : ABSENT_BITS);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    requireSameLength(out, x);
    const values = this.#values();
    for (let index = 0; index < x.length; index++) {
      const at = index * this.#bytes;
      this.#combineAt(values, operation, out.offset + at, x.offset + at);
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
    const values = this.#values();
    for (const [position, index] of indices.entries()) {
      const value = offset + 4 * count + this.#bytes * position;
      const at = out.offset + this.#bytes * (index - start);
      this.#combineAt(values, operation, at, value);
    }
  }

  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
  ): SparseStream {
    requireStreamCapacity(out, a.count + b.count, this.#bytes);
    const values = this.#values();
    const merged = new Map(this.#pairs(values, a));
    for (const [index, value] of this.#pairs(values, b)) {
      const before = merged.get(index);
      merged.set(index, before === undefined ? value : apply[operation](before, value));
    }
    const pairs = [...merged].sort(([i], [j]) => i - j);
    const count = pairs.length;
    this.#arena.u32(out.offset, count).set(pairs.map(([index]) => index));
    for (const [position, [, value]] of pairs.entries()) {
      this.#write(values, out.offset + 4 * count + this.#bytes * position, value);
    }
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

  #combineAt(
    values: DataView,
    operation: ReduceOperation,
    out: number,
    x: number,
  ): void {
    if (operation !== 'sum' && this.#isAbsent(x)) return;
    if (operation !== 'sum' && this.#isAbsent(out)) {
      const words = this.#bytes / 4;
      this.#arena.u32(out, words).set(this.#arena.u32(x, words));
      return;
    }
    const both = apply[operation](this.#read(values, out), this.#read(values, x));
    this.#write(values, out, both);
  }

  #isAbsent(offset: number): boolean {
    const words = this.#arena.u32(offset, this.#bytes / 4);
    return words.every((bits) => bits === ABSENT_BITS);
  }

  #pairs(values: DataView, { offset, count }: SparseStream): [number, number][] {
    const first = offset + 4 * count;
    return Array.from(this.#arena.u32(offset, count), (index, position) => [
      index,
      this.#read(values, first + this.#bytes * position),
    ]);
  }

  /** The whole arena, since an f64 of a stream may be at any multiple of 4 bytes. */
  #values(): DataView {
    return new DataView(this.#arena.buffer);
  }

  #read(values: DataView, offset: number): number {
    return this.#bytes === 4
      ? values.getFloat32(offset, true)
      : values.getFloat64(offset, true);
  }

  #write(values: DataView, offset: number, value: number): void {
    if (this.#bytes === 4) values.setFloat32(offset, value, true);
    else values.setFloat64(offset, value, true);
  }
}
