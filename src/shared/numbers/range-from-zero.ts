/** Ranges of axes from zero, with ends on round numbers: the same on the page and in reports. */

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
