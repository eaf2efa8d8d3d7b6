/**
 * Debiased exponential moving average, as in Adam's moments: the running sum starts at
 * 0 and is divided by the weight it has seen, so that the first values are not dragged
 * towards 0. O(length).
 */

/**
 * @param values what is averaged; NaN means not observed and leaves the average as it is
 * @param counts iterations that each value stands for; default: 1 each
 * @param decay weight that the past keeps per iteration, 0 ≤ decay < 1
 * @returns one average per value; NaN until the first observation
 */
export function exponentialAverage(
  values: ArrayLike<number>,
  counts: ArrayLike<number> | undefined,
  decay: number,
): Float64Array {
  if (!(decay >= 0 && decay < 1)) throw new Error(`internal: decay ${decay}`);
  const averages = new Float64Array(values.length);
  let sum = 0;
  let weight = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!Number.isNaN(value)) {
      // A value that stands for c iterations weighs like c equal values in a row.
      const kept = decay ** (counts?.[i] ?? 1);
      sum = sum * kept + value * (1 - kept);
      weight = weight * kept + (1 - kept);
    }
    averages[i] = weight === 0 ? NaN : sum / weight;
  }
  return averages;
}
