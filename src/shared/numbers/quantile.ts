/** Quantiles of small samples, by linear interpolation (type 7 of Hyndman and Fan). */

/**
 * @param sample any order; values that are NaN are left out
 * @param fraction 0 is the minimum, 0.5 the median, 1 the maximum
 * @returns undefined where nothing was observed
 */
export function quantile(
  sample: Iterable<number>,
  fraction: number,
): number | undefined {
  const sorted = Float64Array.from(
    [...sample].filter((value) => !Number.isNaN(value)),
  ).sort();
  if (sorted.length === 0) return undefined;
  const position = (sorted.length - 1) * Math.min(1, Math.max(0, fraction));
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (high - low) * (position - below);
}

export function median(sample: Iterable<number>): number | undefined {
  return quantile(sample, 0.5);
}
