/**
 * Ranges of axes that stay put while data comes: ends on round numbers, so that an axis
 * moves only when the data leaves it or shrinks away from it.
 */

import { quantile } from '../../shared/numbers/quantile.ts';

export interface AxisRange {
  readonly min: number;
  readonly max: number;
}

/** The smallest 1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of ten that is ≥ value > 0. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 1.5, 2, 3, 4, 5, 6, 8]) {
    // A hair's tolerance, so that 0.3 is not rounded up to 0.4 for its last bit.
    if (step * power >= value * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

/**
 * Returns the range from 0 to a round number with at least 4 % of room above the largest value;
 * and below the smallest, if that is negative.
 */
export function rangeFromZero(values: Iterable<number>): AxisRange {
  let min = 0;
  let max = 0;
  for (const value of values) {
    if (value > max) max = value;
    if (value < min) min = value;
  }
  if (min === 0) return { min: 0, max: max === 0 ? 1 : roundUp(max * 1.04) };
  return { min: -roundUp(min * -1.04), max: max === 0 ? 0 : roundUp(max * 1.04) };
}

/**
 * Returns the range of `rangeFromZero`, but a few outliers do not flatten everything else: if
 * the largest value is more than twice the ninth decile, the range ends at 1.6 times that
 * decile, and the chart says which values exceed it.
 */
export function robustRange(values: readonly number[]): AxisRange {
  const decile = quantile(values, 0.9) ?? 0;
  const max = values.reduce((most, value) => Math.max(most, value), 0);
  if (max <= 2 * decile || decile === 0) return rangeFromZero(values);
  return { min: 0, max: roundUp(1.6 * decile) };
}

/** Whole powers of ten around all values > 0. */
export function logRange(values: Iterable<number>): AxisRange {
  let min = Infinity;
  let max = 0;
  for (const value of values) {
    if (!(value > 0)) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  if (max === 0) return { min: 1, max: 10 };
  const low = 10 ** Math.floor(Math.log10(min) + 1e-9);
  const high = 10 ** Math.ceil(Math.log10(max) - 1e-9);
  return { min: low, max: high > low ? high : low * 10 };
}
