/** Histograms of magnitudes on one axis: the bins of both, and the share of elements in each. */
import { edgeOf, type Magnitudes } from '../../shared/records/magnitudes.ts';

/** A half octave of magnitudes, and the share of each vector's elements that are in it. */
export interface MagnitudeBin {
  readonly low: number;
  readonly high: number;
  /** 0…1, of the elements of one vector. */
  readonly uncompressed: number;
  readonly applied: number;
}

/** Every bin between the smallest and the largest magnitude of either. */
export function magnitudeBins(
  uncompressed: Magnitudes,
  applied: Magnitudes,
): readonly MagnitudeBin[] {
  const both = [uncompressed, applied].filter(({ negative }) => negative.length > 0);
  if (both.length === 0) return [];
  const from = Math.min(...both.map(({ first }) => first));
  const to = Math.max(...both.map(({ first, negative }) => first + negative.length));
  const sizes = [sizeOf(uncompressed), sizeOf(applied)] as const;
  return Array.from({ length: to - from }, (_, bin) => ({
    low: edgeOf({ first: from }, bin),
    high: edgeOf({ first: from }, bin + 1),
    uncompressed: countAt(uncompressed, from + bin) / sizes[0],
    applied: countAt(applied, from + bin) / sizes[1],
  }));
}

/** Elements of the vector. */
export function sizeOf({ negative, positive, zeros }: Magnitudes): number {
  const add = (sum: number, count: number): number => sum + count;
  return positive.reduce(add, negative.reduce(add, zeros));
}

const countAt = (
  { first, negative, positive }: Magnitudes,
  halfOctave: number,
): number => (negative[halfOctave - first] ?? 0) + (positive[halfOctave - first] ?? 0);
