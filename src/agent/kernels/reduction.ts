/**
 * Elementwise reductions of vectors and sparse streams under any operation that has a
 * neutral element, as collectives apply them to two ranks' contributions. A part of
 * `Kernels`, which has them for f32 and for f64 values: offsets are in bytes, lengths in
 * elements, and indices are u32 for both.
 *
 * An absent entry counts as the neutral element (METHODS 7). For a sum that is 0, which a
 * dense vector can hold. Under the other operations a dense vector marks an absent entry
 * with a special NaN, `ABSENT_BITS`, because a rank may have the neutral elements
 * themselves (±∞, 1) as values, and 0 may be a product that underflowed.
 *
 * All operations commute bit for bit, except for the bits of a NaN if two different NaNs
 * meet in a sum or a product: the processor keeps one of them. A result is rounded once
 * to its type; NaN wins.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';

export const REDUCE_OPERATIONS = ['sum', 'min', 'max', 'prod'] as const;
export type ReduceOperation = (typeof REDUCE_OPERATIONS)[number];

/** Every word of an absent entry in a dense vector, under all operations but sum. */
export const ABSENT_BITS = 0xffff_ffff;

export interface ReductionKernels {
  /** Every entry absent: 0 for a sum, `ABSENT_BITS` for the others. */
  clear(operation: ReduceOperation, out: Vector): void;
  /** out ← out ∘ x, elementwise. */
  combine(operation: ReduceOperation, out: Vector, x: Vector): void;
  /**
   * out ← out ∘ stream. `out` holds the elements from `start` on of the vector that the
   * stream's indices refer to. Indices ascend and are within `out`: `firstDisordered` has
   * checked streams of other ranks.
   */
  scatter(
    operation: ReduceOperation,
    out: Vector,
    start: number,
    stream: SparseStream,
  ): void;
  /**
   * a ∘ b: ascending indices, one entry per distinct index. `out` holds at least
   * a.count + b.count pairs and overlaps neither.
   */
  merge(
    operation: ReduceOperation,
    a: SparseStream,
    b: SparseStream,
    out: Region,
  ): SparseStream;
  /**
   * Position of the first index that is not greater than its predecessor or not in
   * [start, end); −1 if there is none.
   */
  firstDisordered(stream: SparseStream, start: number, end: number): number;
  /** Position of the first index ≥ `bound`; the count if there is none. O(log k). */
  firstAtLeast(stream: SparseStream, bound: number): number;
}
