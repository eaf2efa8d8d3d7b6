/**
 * The kernels: the operations of compression methods and collectives on vectors, with one
 * interface for all backends. `reference` is plain TypeScript, obvious and slow, the
 * oracle of the tests; `wasm` is the CPU default. Backends agree bit for bit on
 * selections and payload bytes, and on scalar reductions to 1e-6 relative.
 *
 * Lengths are in elements, offsets in bytes. No call allocates in the arena; scratch is
 * owned by the backend and grows at most once per larger size.
 */
import type { Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { HalfType } from '../memory/value-type.ts';
import type { HalfPrecisionKernels } from './half-precision.ts';
import type { LowRankKernels, Matrix } from './low-rank.ts';
import type { MicroscalingKernels } from './microscaling.ts';
import type { OptimizationKernels } from './optimization.ts';
import type { QuantizationKernels } from './quantization.ts';
import type { ReductionKernels } from './reduction.ts';
import type { SparsificationKernels } from './sparsification.ts';

export interface TwoMeans {
  /** Mean of the elements ≥ 0; 0 if there is none. */
  readonly plus: number;
  /** Mean of |·| over the elements < 0; 0 if there is none. */
  readonly minus: number;
}

export interface Moments {
  readonly mean: number;
  /** Variance, divided by n, not n − 1. */
  readonly variance: number;
}

export interface Kernels {
  fill(out: Vector, value: number): void;
  copy(out: Vector, x: Vector): void;
  /** out ← out + x, elementwise. */
  add(out: Vector, x: Vector): void;
  /**
   * out ← out + x, in one pass with `firstNonFinite(x)`, whose result it returns; `out` is
   * undefined unless that is −1.
   */
  addFinite(out: Vector, x: Vector): number;
  /** out ← x, in one pass with `firstNonFinite(x)`, whose result it returns. */
  copyFinite(out: Vector, x: Vector): number;
  /** x ← x · factor. */
  scale(x: Vector, factor: number): void;
  /** out ← outFactor · out + xFactor · x, rounded to f32 after each operation. */
  blend(out: Vector, outFactor: number, x: Vector, xFactor: number): void;
  /**
   * out ← Mᵀ, or out + Mᵀ. `out`: rows · columns elements, in separate memory, which get
   * the matrix in the order of its columns.
   */
  transpose(matrix: Matrix, out: Vector, add: boolean): void;
  /** ‖x‖², accumulated in f64. */
  squaredNorm(x: Vector): number;
  /** ‖x − y‖², accumulated in f64. */
  squaredDistance(x: Vector, y: Vector): number;
  /** Mean and variance, accumulated in f64 in two passes; both 0 without elements. */
  moments(x: Vector): Moments;
  /** Index of the first NaN or infinity, −1 if all are finite. */
  firstNonFinite(x: Vector): number;

  /** x[i] ← 0 for every index i of the stream. */
  clearAt(x: Vector, stream: SparseStream): void;
  /** out[i] ← out[i] + factor · value for every pair of the stream. */
  scatterAdd(out: Vector, stream: SparseStream, factor: number): void;

  twoMeans(x: Vector): TwoMeans;
  /** x ← x + plus where x ≥ 0, x − minus where x < 0, by the signs before the call. */
  shiftBySign(x: Vector, plus: number, minus: number): void;

  readonly halfPrecision: HalfPrecisionKernels;
  readonly microscaling: MicroscalingKernels;
  readonly sparsification: SparsificationKernels;
  readonly lowRank: LowRankKernels;
  readonly optimization: OptimizationKernels;
  readonly quantization: QuantizationKernels;
  readonly reduction: ReductionKernels;
  /** Reductions of f64 values. */
  readonly reduction64: ReductionKernels;
  /** Sums of 16-bit values. */
  readonly halfSums: Readonly<Record<HalfType, ReductionKernels>>;
}
