/** Order statistics of a sample, by the nearest rank. The machines are noisy: medians. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error('internal: a quantile of nothing');
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
