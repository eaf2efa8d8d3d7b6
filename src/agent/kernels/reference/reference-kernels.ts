/**
 * The kernels in obvious TypeScript: the oracle that every other backend is tested
 * against, and the fallback that needs only JavaScript. O(n log n) selection; it
 * allocates freely. Elementwise arithmetic is f32, rounded after each operation.
 */
import type { Arena, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { halfPrecisionSums } from '../half-precision.ts';
import type { Kernels, Moments, TwoMeans } from '../kernels.ts';
import type { Matrix } from '../low-rank.ts';
import {
  requireSameLength,
  requireTransposed,
  streamIndexError,
} from '../preconditions.ts';
import { ReferenceHalfPrecision } from './reference-half-precision.ts';
import { ReferenceLowRank } from './reference-low-rank.ts';
import { ReferenceMicroscaling } from './reference-microscaling.ts';
import { ReferenceOptimization } from './reference-optimization.ts';
import { ReferenceQuantization } from './reference-quantization.ts';
import { ReferenceReduction } from './reference-reduction.ts';
import { ReferenceSparsification } from './reference-sparsification.ts';

export function referenceKernels(arena: Arena): Kernels {
  return new ReferenceKernels(arena);
}

class ReferenceKernels implements Kernels {
  readonly #arena: Arena;
  readonly halfPrecision: ReferenceHalfPrecision;
  readonly microscaling: ReferenceMicroscaling;
  readonly sparsification: ReferenceSparsification;
  readonly lowRank: ReferenceLowRank;
  readonly optimization: ReferenceOptimization;
  readonly quantization: ReferenceQuantization;
  readonly reduction: ReferenceReduction;
  readonly reduction64: ReferenceReduction;
  readonly halfSums: Kernels['halfSums'];

  constructor(arena: Arena) {
    this.#arena = arena;
    this.halfPrecision = new ReferenceHalfPrecision(arena);
    this.microscaling = new ReferenceMicroscaling(arena);
    this.halfSums = halfPrecisionSums(arena, this.halfPrecision);
    this.sparsification = new ReferenceSparsification(arena);
    this.lowRank = new ReferenceLowRank(arena);
    this.optimization = new ReferenceOptimization(arena);
    this.quantization = new ReferenceQuantization(arena);
    this.reduction = new ReferenceReduction(arena, 'f32');
    this.reduction64 = new ReferenceReduction(arena, 'f64');
  }

  fill(out: Vector, value: number): void {
    this.#arena.f32(out).fill(value);
  }

  copy(out: Vector, x: Vector): void {
    requireSameLength(out, x);
    this.#arena.f32(out).set(this.#arena.f32(x));
  }

  add(out: Vector, x: Vector): void {
    requireSameLength(out, x);
    const sum = this.#arena.f32(out);
    this.#arena.f32(x).forEach((value, index) => {
      sum[index] = sum[index]! + value;
    });
  }

  addFinite(out: Vector, x: Vector): number {
    this.add(out, x);
    return this.firstNonFinite(x);
  }

  copyFinite(out: Vector, x: Vector): number {
    this.copy(out, x);
    return this.firstNonFinite(x);
  }

  transpose(matrix: Matrix, out: Vector, add: boolean): void {
    requireTransposed(matrix, out);
    const { offset, rows, columns } = matrix;
    const from = this.#arena.f32({ offset, length: rows * columns });
    const to = this.#arena.f32(out);
    for (let i = 0; i < rows; i++) {
      for (let j = 0; j < columns; j++) {
        const value = from[i * columns + j]!;
        const at = j * rows + i;
        to[at] = add ? to[at]! + value : value;
      }
    }
  }

  scale(x: Vector, factor: number): void {
    const values = this.#arena.f32(x);
    const factor32 = Math.fround(factor);
    values.forEach((value, index) => {
      values[index] = value * factor32;
    });
  }

  blend(out: Vector, outFactor: number, x: Vector, xFactor: number): void {
    requireSameLength(out, x);
    const values = this.#arena.f32(out);
    const outFactor32 = Math.fround(outFactor);
    const xFactor32 = Math.fround(xFactor);
    this.#arena.f32(x).forEach((value, index) => {
      const kept = Math.fround(values[index]! * outFactor32);
      values[index] = kept + Math.fround(value * xFactor32);
    });
  }

  moments(x: Vector): Moments {
    const values = this.#arena.f32(x);
    const n = values.length;
    if (n === 0) return { mean: 0, variance: 0 };
    const mean = values.reduce((sum, value) => sum + value, 0) / n;
    const squares = values.reduce(
      (sum, value) => sum + (value - mean) * (value - mean),
      0,
    );
    return { mean, variance: squares / n };
  }

  squaredNorm(x: Vector): number {
    return this.#arena.f32(x).reduce((sum, value) => sum + value * value, 0);
  }

  squaredDistance(x: Vector, y: Vector): number {
    requireSameLength(x, y);
    const other = this.#arena.f32(y);
    return this.#arena.f32(x).reduce((sum, value, index) => {
      const apart = value - other[index]!;
      return sum + apart * apart;
    }, 0);
  }

  firstNonFinite(x: Vector): number {
    return this.#arena.f32(x).findIndex((value) => !Number.isFinite(value));
  }

  clearAt(x: Vector, stream: SparseStream): void {
    const values = this.#arena.f32(x);
    for (const [index] of this.#pairs(stream, x.length)) values[index] = 0;
  }

  scatterAdd(out: Vector, stream: SparseStream, factor: number): void {
    const sum = this.#arena.f32(out);
    const factor32 = Math.fround(factor);
    for (const [index, value] of this.#pairs(stream, out.length)) {
      sum[index] = sum[index]! + Math.fround(value * factor32);
    }
  }

  twoMeans(x: Vector): TwoMeans {
    const values = Array.from(this.#arena.f32(x));
    const mean = (numbers: readonly number[]): number =>
      numbers.length === 0
        ? 0
        : numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    return {
      plus: mean(values.filter((value) => value >= 0)),
      minus: mean(values.filter((value) => value < 0).map(Math.abs)),
    };
  }

  shiftBySign(x: Vector, plus: number, minus: number): void {
    const values = this.#arena.f32(x);
    const plus32 = Math.fround(plus);
    const minus32 = Math.fround(minus);
    values.forEach((value, index) => {
      values[index] = value >= 0 ? value + plus32 : value - minus32;
    });
  }

  /** @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE` before anything is yielded */
  #pairs(stream: SparseStream, length = Infinity): [number, number][] {
    const { offset, count } = stream;
    const indices = this.#arena.u32(offset, count);
    const values = this.#arena.f32({ offset: offset + 4 * count, length: count });
    const outside = indices.find((index) => index >= length);
    if (outside !== undefined) throw streamIndexError(outside, length);
    return Array.from(indices, (index, position) => [index, values[position]!]);
  }
}
