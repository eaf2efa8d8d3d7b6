/**
 * N elements in P contiguous parts of ⌊N/P⌋; the last takes the rest (METHODS 7). For
 * N < P all parts but the last are empty.
 */
import type { Vector } from '../memory/arena.ts';
import type { ValueBytes } from '../memory/value-type.ts';

/** Elements [start, start + length) of the vector. */
export interface ElementRange {
  readonly start: number;
  readonly length: number;
}

/** Part `index` of `parts` of a vector of `length` elements. */
export function partRange(length: number, parts: number, index: number): ElementRange {
  const size = Math.floor(length / parts);
  const start = index * size;
  return { start, length: index === parts - 1 ? length - start : size };
}

/** All parts of it, in order. */
export const partRanges = (length: number, parts: number): readonly ElementRange[] =>
  Array.from({ length: parts }, (_, index) => partRange(length, parts, index));

export function part(
  vector: Vector,
  parts: number,
  index: number,
  valueBytes: ValueBytes = 4,
): Vector {
  const { start, length } = partRange(vector.length, parts, index);
  return { offset: vector.offset + valueBytes * start, length };
}
