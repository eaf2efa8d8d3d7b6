/**
 * Ranges of axes that stay put while data comes: ends on round numbers, so that an axis
 * moves only when the data leaves it or shrinks away from it.
 */

import { quantile } from '../../shared/numbers/quantile.ts';
import {
  rangeFromZero,
  roundUp,
  type AxisRange,
} from '../../shared/numbers/range-from-zero.ts';

export { rangeFromZero, roundUp, type AxisRange };

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
