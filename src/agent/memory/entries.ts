/**
 * Entries of a sparse vector, stored and sent in the same form: indices first, then
 * values.
 */
import type { ValueBytes } from './value-type.ts';

/** `count` (u32 index, f32 value) pairs: all indices, ascending, then all values. */
export interface SparseStream {
  readonly offset: number;
  readonly count: number;
}

/** Bytes of a stream of `count` pairs of an index and a value of `valueBytes` bytes. */
export const sparseBytes = (count: number, valueBytes: ValueBytes = 4): number =>
  (4 + valueBytes) * count;
