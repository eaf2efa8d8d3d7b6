/**
 * N elements in P contiguous parts of ⌊N/P⌋; the last takes the rest (METHODS 7). For
 * N < P all parts but the last are empty.
 */
import type { Vector } from '../kernels/arena.ts';

export function part(vector: Vector, parts: number, index: number): Vector {
  const size = Math.floor(vector.length / parts);
  const start = index * size;
  const length = index === parts - 1 ? vector.length - start : size;
  return { offset: vector.offset + 4 * start, length };
}
