/**
 * Student's t distribution, for the mean of a few values whose spread is itself estimated
 * from them. Source: Abramowitz and Stegun, 26.7.3 and 26.7.4: finite sums for whole
 * degrees of freedom.
 */

/** @returns the probability that t is at most `t` */
export function studentDistribution(t: number, freedom: number): number {
  if (!Number.isInteger(freedom) || freedom < 1) {
    throw new Error(`internal: ${freedom} degrees of freedom`);
  }
  const angle = Math.atan2(t, Math.sqrt(freedom));
  const [sine, square] = [Math.sin(angle), Math.cos(angle) ** 2];
  const odd = freedom % 2 === 1;
  // Both series: each term from the one before.
  let term = odd ? Math.cos(angle) : 1;
  let sum = 0;
  for (let power = odd ? 1 : 0; power <= freedom - 2; power += 2) {
    sum += term;
    term *= (square * (power + 1)) / (power + 2);
  }
  const within = odd ? (2 / Math.PI) * (angle + sine * sum) : sine * sum;
  return (1 + within) / 2;
}

/** Quantiles found before: a judgement needs the same three for every test. */
const found = new Map<string, number>();

/** @param probability between 0 and 1, both excluded */
export function studentQuantile(probability: number, freedom: number): number {
  if (!(probability > 0 && probability < 1)) {
    throw new Error(`internal: a quantile at ${probability}`);
  }
  if (probability < 0.5) return -studentQuantile(1 - probability, freedom);
  const key = `${probability} ${freedom}`;
  const known = found.get(key);
  if (known !== undefined) return known;
  const quantile = bisected(probability, freedom);
  found.set(key, quantile);
  return quantile;
}

function bisected(probability: number, freedom: number): number {
  let [low, high] = [0, 1];
  while (studentDistribution(high, freedom) < probability) high *= 2;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (studentDistribution(middle, freedom) < probability) low = middle;
    else high = middle;
  }
}
