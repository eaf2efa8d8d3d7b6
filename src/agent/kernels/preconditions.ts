/**
 * Preconditions of every kernel backend. A violation is a bug of the caller: these throw
 * `internal:` errors. Indices of a stream are different: they come from the wire, so an
 * index outside the vector is a coded failure.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { Region, Vector } from '../memory/arena.ts';
import type { Matrix } from './low-rank.ts';
import { sparseBytes } from '../memory/entries.ts';
import { indexBytes } from './sparsification.ts';
import type { ValueBytes } from '../memory/value-type.ts';

export function requireSameLength(a: Vector, b: Vector): void {
  if (a.length !== b.length) {
    throw new Error(`internal: vectors of ${a.length} and ${b.length} elements`);
  }
}

/** A vector has an element for each element of a matrix, in separate memory. */
export function requireTransposed(matrix: Matrix, out: Vector): void {
  const { offset, rows, columns } = matrix;
  const length = rows * columns;
  if (out.length !== length || Math.abs(out.offset - offset) < 4 * length) {
    throw new Error(
      `internal: ${rows} × ${columns} at ${offset} to ${out.length} elements at ${out.offset}`,
    );
  }
}

/** A region has room for this many bytes. */
export function requireCapacity(region: Region, bytes: number): void {
  if (region.bytes < bytes) {
    throw new Error(`internal: ${bytes} bytes in a region of ${region.bytes}`);
  }
}

/** A vector has at least this many elements. */
export function requireElements(vector: Vector, length: number): void {
  if (vector.length < length) {
    throw new Error(`internal: ${length} elements in a vector of ${vector.length}`);
  }
}

/** `out` holds a stream of `count` pairs. */
export function requireStreamCapacity(
  out: Region,
  count: number,
  valueBytes: ValueBytes = 4,
): void {
  if (out.bytes < sparseBytes(count, valueBytes)) {
    throw new Error(
      `internal: ${out.bytes} bytes cannot hold a stream of ${count} pairs`,
    );
  }
}

/** `out` holds `k` indices, which can all differ below `n`. */
export function requireIndexCapacity(out: Region, k: number, n: number): void {
  if (out.bytes < indexBytes(k) || k > n) {
    throw new Error(`internal: ${k} indices below ${n} in ${out.bytes} bytes`);
  }
}

/**
 * A scatter writes through these indices; since they ascend, checking the first and the
 * last is enough.
 */
export function requireWithin(
  first: number | undefined,
  last: number | undefined,
  start: number,
  length: number,
): void {
  if (first === undefined || last === undefined) return;
  if (first < start || last >= start + length) {
    throw new Error(
      `internal: a stream of ${first} to ${last} for ${start} to ${start + length}`,
    );
  }
}

export function streamIndexError(index: number, length: number): GradwireError {
  return failure(
    'STREAM_INDEX_OUT_OF_RANGE',
    `a sparse stream contains index ${index}, but the vector has ${length} elements`,
    { next: 'A rank has sent a corrupt payload: see the log of the run.' },
  );
}
