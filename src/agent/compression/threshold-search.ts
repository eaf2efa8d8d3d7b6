/**
 * Gaussian-k's search for a threshold, as questions and answers: it asks how many entries
 * reach some threshold, of whoever has them, and in the end says what to select. So the
 * same search runs on a CPU, which answers at once, and on a GPU, which takes a while.
 *
 * First a threshold is moved until those that reach it, the candidates, are at least 3k/4
 * and few enough to be looked at again and again; then it is bisected among these until
 * the count is in [3k/4, 5k/4].
 */
import { momentsOf, type FixedSums } from '../kernels/fixed-point.ts';
import { normalQuantile } from './normal-quantile.ts';

/** How many entries have a magnitude of at least `threshold`, as f32? */
export interface CountQuestion {
  readonly threshold: number;
  /** More than so many need not be told apart. */
  readonly limit: number;
  /** `all`: of p; `candidates`: of those that reached the last threshold for `all`. */
  readonly among: 'all' | 'candidates';
}

export type SearchResult =
  /** All that reach the threshold last asked for. */
  | { readonly kind: 'reaching'; readonly threshold: number; readonly count: number }
  /** Exactly k: all that reach `high`, and of those that reach only `low` the first. */
  | { readonly kind: 'ties'; readonly low: number; readonly high: number }
  /** No threshold will do: the k largest. */
  | { readonly kind: 'largest' };

/** Candidates for each entry wanted: room for the error of the first threshold. */
const CANDIDATES = 16;
/** Passes over p to find candidates, and over candidates to find the threshold. */
const MOST_PASSES = 12;
const MOST_BISECTIONS = 40;

/** Entries that no search for about k selects more of. */
export const mostSelected = (k: number): number => Math.floor((5 * k) / 4);
export const mostCandidates = (n: number, k: number): number =>
  Math.min(n, CANDIDATES * k);

const leastSelected = (k: number): number => Math.ceil((3 * k) / 4);

/** τ of the normal assumption, to 12 bits: it is an estimate and need not say more. */
export function estimateThreshold(sums: FixedSums, ratio: number): number {
  const { mean, deviation } = momentsOf(sums);
  const τ = Math.abs(mean) + normalQuantile(ratio / 2) * deviation;
  if (τ === 0 || !Number.isFinite(τ)) return 0;
  const unit = 2 ** (Math.floor(Math.log2(τ)) - 11);
  return Math.round(τ / unit) * unit;
}

/** The search for about k of n, from an estimate on. Answers are counts. */
export function* searchThreshold(
  n: number,
  k: number,
  estimate: number,
): Generator<CountQuestion, SearchResult, number> {
  const threshold = yield* collect(n, k, estimate);
  if (threshold === undefined) return { kind: 'largest' };
  return yield* bisect(k, threshold);
}

/** Steps grow until the threshold has been passed, then it is cornered. */
function* collect(
  n: number,
  k: number,
  estimate: number,
): Generator<CountQuestion, number | undefined, number> {
  const most = mostCandidates(n, k);
  let threshold = estimate;
  let tooLow = 0;
  let tooHigh = Infinity;
  let step = 2;
  for (let pass = 0; pass < MOST_PASSES && threshold > 0; pass++) {
    const count = yield { threshold, limit: most + 1, among: 'all' };
    if (count > most) tooLow = threshold;
    else if (count < leastSelected(k)) tooHigh = threshold;
    else return threshold;
    if (tooHigh === Infinity) threshold *= step;
    else if (tooLow === 0) threshold /= step;
    else threshold = Math.sqrt(tooLow) * Math.sqrt(tooHigh);
    step *= step;
  }
  return undefined;
}

/** Among candidates that all reach `threshold`. */
function* bisect(
  k: number,
  threshold: number,
): Generator<CountQuestion, SearchResult, number> {
  const most = mostSelected(k);
  let low = threshold;
  let high = Infinity;
  let middle = low;
  for (let i = 0; i < MOST_BISECTIONS; i++) {
    const count = yield { threshold: middle, limit: most + 1, among: 'candidates' };
    if (count > most) low = middle;
    else if (count < leastSelected(k)) high = middle;
    else return { kind: 'reaching', threshold: middle, count };
    middle = high === Infinity ? 2 * low : low + (high - low) / 2;
  }
  // Neighbouring thresholds have too many entries and too few.
  return { kind: 'ties', low: Math.fround(low), high: Math.fround(high) };
}
