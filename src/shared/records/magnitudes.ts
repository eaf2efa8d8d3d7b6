/**
 * Histograms of the magnitudes of a vector's elements, by sign. Their bins are half octaves, each √2
 * times as wide as the one before.
 */
import { z } from 'zod';
import { count } from './fields.ts';

/** Half octaves of f32: exponents from −126 to 127. */
export const LOWEST_HALF_OCTAVE = -252;
export const MOST_HALF_OCTAVES = 508;

const counts = z.array(count).max(MOST_HALF_OCTAVES).readonly();

export const magnitudesSchema = z.strictObject({
  /** Elements that are 0, or too small to be a normal number. */
  zeros: count,
  /** Bin i has magnitudes from √2^(first + i) to √2^(first + i + 1). */
  first: z.int(),
  /** Elements below 0 in each bin. */
  negative: counts,
  /** Elements above 0 in each bin. */
  positive: counts,
});
export type Magnitudes = z.infer<typeof magnitudesSchema>;

/** The lower edge of a bin. */
export const edgeOf = ({ first }: Pick<Magnitudes, 'first'>, bin: number): number =>
  2 ** ((first + bin) / 2);
