/**
 * The ratio of two configurations' mean costs, with a bootstrap interval over seeds: how many
 * times as fast one is as the other. Runs of the same seed count as one, with their mean.
 *
 * Percentile intervals of few seeds are too narrow: with three seeds a nominal 95 % covers 72 to
 * 80 %. So the percentiles of log ratios are moved away from the estimate by the factor
 * t(n − 1)/z · √(n/(n − 1)), which makes up for it (after the expanded percentile interval of
 * Hesterberg, "What Teachers Should Know about the Bootstrap", 2015, applied to the ends instead
 * of the levels). docs/decisions/085 has its coverage.
 *
 * Where both have the same seeds, they are resampled in pairs: the same initial weights and order
 * of samples. Resamples are drawn by a generator with a fixed start: equal input, equal output.
 */
import { quantile } from '../numbers/quantile.ts';
import { normalQuantile, studentQuantile } from '../numbers/central-quantile.ts';

/** Costs by seed. */
export type SeedCosts = ReadonlyMap<number, number>;

export interface RatioInterval {
  /** Mean of the other's costs over the mean of one's own: above 1 is better. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  readonly isPaired: boolean;
}

/** The fewest seeds from which an interval is made. */
export const FEWEST_SEEDS = 3;

const RESAMPLES = 10_000;

/** @returns undefined: too few seeds, or costs that are 0 */
export function ratioInterval(
  own: SeedCosts,
  other: SeedCosts,
  level: number,
): RatioInterval | undefined {
  const fewest = Math.min(own.size, other.size);
  if (fewest < FEWEST_SEEDS) return undefined;
  const isPaired =
    own.size === other.size && [...own.keys()].every((seed) => other.has(seed));
  const mine = [...own.values()];
  const others = isPaired
    ? [...own.keys()].map((seed) => other.get(seed)!)
    : [...other.values()];
  const ratio = ratioOf(own, other);
  if (ratio === undefined) return undefined;
  const logs = resampled(mine, others, isPaired);
  const estimate = Math.log(ratio);
  const widened =
    (studentQuantile(fewest - 1, level) / normalQuantile(level)) *
    Math.sqrt(fewest / (fewest - 1));
  const end = (fraction: number): number =>
    Math.exp(estimate + widened * (quantile(logs, fraction)! - estimate));
  return { ratio, low: end((1 - level) / 2), high: end((1 + level) / 2), isPaired };
}

/** @returns undefined where a mean is 0 or there is none */
export function ratioOf(own: SeedCosts, other: SeedCosts): number | undefined {
  const [mine, its] = [meanOf([...own.values()]), meanOf([...other.values()])];
  return mine > 0 && its > 0 ? its / mine : undefined;
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Log ratios of resampled means. */
function resampled(
  own: readonly number[],
  other: readonly number[],
  isPaired: boolean,
): Float64Array {
  const random = drawer();
  const logs = new Float64Array(RESAMPLES);
  for (let round = 0; round < RESAMPLES; round++) {
    let [mine, its] = [0, 0];
    for (let draw = 0; draw < own.length; draw++) {
      const at = random(own.length);
      mine += own[at]!;
      if (isPaired) its += other[at]!;
    }
    if (!isPaired) {
      for (let draw = 0; draw < other.length; draw++)
        its += other[random(other.length)]!;
    }
    logs[round] = Math.log(its / other.length / (mine / own.length));
  }
  return logs;
}

/** Whole numbers below a bound: Marsaglia's xorshift32, always from the same start. */
function drawer(): (bound: number) => number {
  let state = 0x9e3779b9;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
}
