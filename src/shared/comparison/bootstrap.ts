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
 * A cost is known only up to the evaluation before the target was seen: each draw takes one from
 * between the two, so the interval is no narrower than the grid of evaluations lets it be.
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
/** Places between two evaluations. */
const PLACES = 2 ** 20;

/** A cost lies above the first, and is at most the second. */
type Span = readonly [above: number, atMost: number];

/** Costs by seed that were still too few. */
export interface TooFew {
  readonly own: SeedCosts;
  readonly other: SeedCosts;
}

/**
 * @param tooFew costs at the evaluation before; default: costs are exact
 * @returns undefined: too few seeds, or costs that are 0
 */
export function ratioInterval(
  own: SeedCosts,
  other: SeedCosts,
  level: number,
  tooFew?: TooFew,
): RatioInterval | undefined {
  const fewest = Math.min(own.size, other.size);
  if (fewest < FEWEST_SEEDS) return undefined;
  const isPaired =
    own.size === other.size && [...own.keys()].every((seed) => other.has(seed));
  const spans = (
    seeds: Iterable<number>,
    costs: SeedCosts,
    few: SeedCosts | undefined,
  ): readonly Span[] =>
    [...seeds].map((seed) => {
      const cost = costs.get(seed)!;
      return [few?.get(seed) ?? cost, cost];
    });
  const mine = spans(own.keys(), own, tooFew?.own);
  const others = spans((isPaired ? own : other).keys(), other, tooFew?.other);
  const ratio = ratioOf(own, other);
  if (ratio === undefined) return undefined;
  const estimate = Math.log(ratio);
  const widened =
    (studentQuantile(fewest - 1, level) / normalQuantile(level)) *
    Math.sqrt(fewest / (fewest - 1));
  const draws = drawer();
  const seeds = resampled(mine, others, isPaired, draws);
  const grid = withinSpans(mine, others, draws);
  // Only what varies between seeds is seen too narrow by few of them.
  const logs = seeds.map((log, round) => widened * (log - estimate) + grid[round]!);
  const end = (fraction: number): number =>
    Math.exp(estimate + quantile(logs, fraction)!);
  return { ratio, low: end((1 - level) / 2), high: end((1 + level) / 2), isPaired };
}

/** @returns undefined where a mean is 0 or there is none */
export function ratioOf(own: SeedCosts, other: SeedCosts): number | undefined {
  const [mine, its] = [meanOf([...own.values()]), meanOf([...other.values()])];
  return mine > 0 && its > 0 ? its / mine : undefined;
}

export const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

type Draw = (bound: number) => number;

/** Log ratios of resampled means. */
function resampled(
  own: readonly Span[],
  other: readonly Span[],
  isPaired: boolean,
  draw: Draw,
): Float64Array {
  const logs = new Float64Array(RESAMPLES);
  for (let round = 0; round < RESAMPLES; round++) {
    let [mine, its] = [0, 0];
    for (let turn = 0; turn < own.length; turn++) {
      const at = draw(own.length);
      mine += own[at]![1];
      if (isPaired) its += other[at]![1];
    }
    if (!isPaired) {
      for (let turn = 0; turn < other.length; turn++)
        its += other[draw(other.length)]![1];
    }
    logs[round] = Math.log(its / other.length / (mine / own.length));
  }
  return logs;
}

/** Log ratios of means of costs that lie anywhere in their spans, less the mean of these. */
function withinSpans(
  own: readonly Span[],
  other: readonly Span[],
  draw: Draw,
): Float64Array {
  const logs = new Float64Array(RESAMPLES);
  if ([...own, ...other].every(([above, atMost]) => above === atMost)) return logs;
  const within = ([above, atMost]: Span): number =>
    atMost - (draw(PLACES) / PLACES) * (atMost - above);
  for (let round = 0; round < RESAMPLES; round++) {
    logs[round] = Math.log(meanOf(other.map(within)) / meanOf(own.map(within)));
  }
  const center = meanOf([...logs]);
  return logs.map((log) => log - center);
}

/** Whole numbers below a bound: Marsaglia's xorshift32, always from the same start. */
function drawer(): Draw {
  let state = 0x9e3779b9;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
}
