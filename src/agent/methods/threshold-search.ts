/**
 * Gaussian-k's search for a threshold, as questions and answers: it asks how many entries
 * reach a threshold, and finally returns what to select. So the same search runs on a
 * CPU, which answers at once, and on a GPU, which answers later.
 *
 * First the threshold moves until the entries that reach it, the candidates, are at least
 * 3k/4 and few enough for repeated passes; then it is bisected among these until the
 * count is in [3k/4, 5k/4].
 *
 * Whatever the entries are, a larger one is never left out while a smaller one is selected,
 * and a zero is never selected: thresholds are positive f32. Fewer than 3k/4 are selected
 * only if all others are 0, and exactly k if equal magnitudes leave no threshold in the
 * band.
 */
import { momentsOf, type FixedSums } from '../kernels/fixed-point.ts';
import { normalQuantile } from './normal-quantile.ts';
import { octave } from '../../shared/numbers/portable-math.ts';

/** Asks how many entries have a magnitude of at least `threshold`, as f32. */
export interface CountQuestion {
  readonly threshold: number;
  /** Counts above this need not be distinguished. */
  readonly limit: number;
  /** `all`: of p; `candidates`: of those that reached the last threshold for `all`. */
  readonly among: 'all' | 'candidates';
}

export type SearchResult =
  /** All entries that reach the last threshold asked for. */
  | { readonly kind: 'reaching'; readonly threshold: number; readonly count: number }
  /**
   * Exactly k: the `certain` entries that reach `high`, and the first of those that reach
   * only `low`, which are equal in magnitude.
   */
  | {
      readonly kind: 'ties';
      readonly low: number;
      readonly high: number;
      readonly certain: number;
    }
  /** The k largest; at least k entries are non-zero. */
  | { readonly kind: 'largest' };

/** Candidates per wanted entry: room for the error of the first threshold. */
const CANDIDATES = 16;
/** Passes over p to find candidates. */
const MOST_PASSES = 12;
/** Bounds further apart than this factor are bisected by exponent, not by value. */
const NEAR = 4;

/** The smallest threshold, which zeros do not reach, and the largest. */
const LEAST = 2 ** -149;
const LARGEST = (2 - 2 ** -23) * 2 ** 127;

/** The most entries that a search for about k selects. */
export const mostSelected = (k: number): number => Math.floor((5 * k) / 4);
export const mostCandidates = (n: number, k: number): number =>
  Math.min(n, CANDIDATES * k);

const leastSelected = (k: number): number => Math.ceil((3 * k) / 4);

/** τ under the normal assumption, to 12 bits: an estimate needs no more. */
export function estimateThreshold(sums: FixedSums, ratio: number): number {
  const { mean, deviation } = momentsOf(sums);
  const τ = Math.abs(mean) + normalQuantile(ratio / 2) * deviation;
  if (τ === 0 || !Number.isFinite(τ)) return 0;
  const unit = 2 ** (octave(τ) - 11);
  return Math.round(τ / unit) * unit;
}

/** Searches for about k of n entries, starting from an estimate. Answers are counts. */
export function* searchThreshold(
  n: number,
  k: number,
  estimate: number,
): Generator<CountQuestion, SearchResult, number> {
  const threshold = yield* collect(n, k, representable(estimate));
  if (threshold === undefined) return { kind: 'largest' };
  return yield* bisect(k, threshold);
}

/** The nearest usable f32: positive and finite. */
function representable(threshold: number): number {
  return Math.min(Math.max(Math.fround(threshold), LEAST), LARGEST);
}

/**
 * A threshold that at least 3k/4 candidates reach, or all non-zero entries. Undefined
 * if no threshold, or none within a few passes, separates that few.
 */
function* collect(
  n: number,
  k: number,
  estimate: number,
): Generator<CountQuestion, number | undefined, number> {
  const most = mostCandidates(n, k);
  let threshold = estimate;
  // At least k reach `tooLow`, if it is not 0.
  let tooLow = 0;
  let tooHigh = Infinity;
  let step = 2;
  // Steps grow until the threshold has been passed, then it is bisected. Ten steps cover
  // the whole range of f32.
  for (let pass = 0; pass < MOST_PASSES || tooLow === 0; pass++) {
    const count = yield { threshold, limit: most + 1, among: 'all' };
    if (count > most) tooLow = threshold;
    else if (count >= leastSelected(k) || threshold === LEAST) return threshold;
    else tooHigh = threshold;
    if (tooHigh === Infinity) threshold *= step;
    else if (tooLow === 0) threshold /= step;
    else threshold = Math.sqrt(tooLow) * Math.sqrt(tooHigh);
    threshold = representable(threshold);
    if (threshold === tooLow || threshold === tooHigh) return undefined;
    step *= step;
  }
  return undefined;
}

/** Searches among the candidates, which all reach `threshold`. */
function* bisect(
  k: number,
  threshold: number,
): Generator<CountQuestion, SearchResult, number> {
  const most = mostSelected(k);
  // More than `most` reach `low`, fewer than 3k/4, the certain ones, reach `high`.
  let low = threshold;
  let high = Infinity;
  let certain = 0;
  let middle = threshold;
  for (let octaves = 1; ;) {
    const count = yield { threshold: middle, limit: most + 1, among: 'candidates' };
    if (count > most) {
      low = middle;
    } else if (count >= leastSelected(k) || middle === threshold) {
      return { kind: 'reaching', threshold: middle, count };
    } else {
      high = middle;
      certain = count;
    }
    if (high === Infinity) {
      middle = representable(threshold * 2 ** octaves);
      octaves *= 2;
    } else {
      middle = Math.fround(between(low, high));
    }
    // No f32 is between them, so entries that reach only `low` have exactly that
    // magnitude.
    if (middle === low || middle === high) return { kind: 'ties', low, high, certain };
  }
}

function between(low: number, high: number): number {
  return high <= NEAR * low ? low + (high - low) / 2 : Math.sqrt(low) * Math.sqrt(high);
}
