/**
 * Elementwise reductions of vectors and sparse streams under any operation that has a
 * neutral element: what a collective does to two ranks' contributions. A part of
 * `Kernels`, which has them for f32 values and for f64 values: offsets stay in bytes,
 * lengths in elements, indices are u32 beside either.
 *
 * An absent entry stands for the neutral element (METHODS 7). A sum has 0 for it, which
 * a dense vector can hold. Under the other operations a dense vector marks an absent
 * entry with a NaN of its own, `ABSENT_BITS`: the neutral elements themselves (±∞, 1)
 * are values that a rank may have, and so is the 0 of a product that underflowed.
 *
 * All operations commute bit for bit, but for the bits of a NaN where two that differ meet
 * in a sum or a product: the processor keeps one of them. A result is rounded once to its
 * type; NaN wins.
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
   * out ← out ∘ stream, where `out` is the elements from `start` on of the vector that
   * the stream's indices count in. They ascend and lie in `out`: streams of other ranks
   * have been through `firstDisordered`.
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
   * Position of the first index that is not above the one before or not in
   * [start, end); −1 where the stream is in order.
   */
  firstDisordered(stream: SparseStream, start: number, end: number): number;
  /** Position of the first index ≥ `bound`; the count where there is none. O(log k). */
  firstAtLeast(stream: SparseStream, bound: number): number;
}
