/**
 * Kernels of the sparsifying methods: selection by threshold, by runs and at random,
 * and access to a vector through a list of indices. A part of `Kernels`, with its
 * promises.
 */
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import type { RandomStream } from './random.ts';

/** `count` u32 indices at `offset`. A sparse stream begins with one. */
export interface IndexList {
  readonly offset: number;
  readonly count: number;
}

export const indexBytes = (count: number): number => 4 * count;

/**
 * Room for a stream whose length is not known before it is written: `capacity` indices,
 * then `capacity` values. `closeStream` moves the values to follow the indices actually
 * written.
 */
export interface StreamRoom {
  readonly offset: number;
  readonly capacity: number;
}

export interface SparsificationKernels {
  /**
   * Exactly min(k, n) entries with the largest |x|, ties by lower index, ascending by
   * index, written to `out` (indices, then values). x must be finite.
   */
  selectTopK(x: Vector, k: number, out: Region): SparseStream;
  /** The k-th largest |x|, 1 ≤ k ≤ n. x must be finite. */
  kthMagnitude(x: Vector, k: number): number;
  /**
   * Appends the elements with |x| ≥ threshold (≥ 0), ascending, to the `count` already in
   * `room`, as entries of a vector in which x begins at element `first`; no more than
   * `limit` of them, lowest indices first. Returns the new count.
   */
  appendAtLeast(
    x: Vector,
    threshold: number,
    first: number,
    room: StreamRoom,
    count: number,
    limit: number,
  ): number;
  /**
   * The entries with the largest |x| of each run of `run` consecutive elements, exactly
   * min(k, run) of them, and min(tailK, rest) of the shorter last run; ties by lower
   * index; one stream, ascending. x must be finite.
   */
  selectTopKPerRun(
    x: Vector,
    run: number,
    k: number,
    tailK: number,
    out: Region,
  ): SparseStream;
  /** out[j] ← x[indices[j]]; `out` has as many elements as there are indices. */
  gatherAt(x: Vector, indices: IndexList, out: Vector): void;
  /**
   * k ≤ n distinct indices below n, ascending, every set of k equally likely: a pure
   * function of n, k and the stream's name.
   */
  drawIndices(n: number, k: number, name: RandomStream, out: Region): IndexList;
}

/** Bytes of a room for `capacity` pairs. */
export const roomBytes = (capacity: number): number => 8 * capacity;

/**
 * Moves the values to follow the indices, so that the room's memory begins with the
 * stream.
 */
export function closeStream(
  arena: Arena,
  { offset, capacity }: StreamRoom,
  count: number,
): SparseStream {
  arena
    .u8(offset, roomBytes(capacity))
    .copyWithin(4 * count, 4 * capacity, 4 * (capacity + count));
  return { offset, count };
}

/** Entries of `selectTopKPerRun`'s result. */
export function entriesPerRun(
  n: number,
  run: number,
  k: number,
  tailK: number,
): number {
  return Math.floor(n / run) * Math.min(k, run) + Math.min(tailK, n % run);
}
