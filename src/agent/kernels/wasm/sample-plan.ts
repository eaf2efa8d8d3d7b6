/**
 * The size of the sample with which a selection of k of n elements begins, if one pays:
 * see `assembly/selection.ts`. The selection is exact for any sample.
 */

/** The least length, and the largest share of it, for which sampling pays. */
const SAMPLED_LENGTH = 65_536;
const SAMPLED_SHARE = 1 / 32;
/**
 * Each sampled element costs a line of the cache, each candidate too many an entry written.
 * Their sum is smallest for some c·∛(k·n) sampled elements; c³ was measured.
 */
const SAMPLED_CUBED = 216;
const LEAST_SAMPLED = 4096;
const MOST_SAMPLED = 65_536;

export interface SamplePlan {
  readonly size: number;
  /** The sample's magnitude of this rank is the threshold for candidates. */
  readonly rank: number;
  /** Room for this many candidates; if there are more, the sample was misleading. */
  readonly capacity: number;
}

export function samplePlan(n: number, k: number): SamplePlan | undefined {
  if (n < SAMPLED_LENGTH || k > n * SAMPLED_SHARE) return undefined;
  let size = LEAST_SAMPLED;
  const cubed = SAMPLED_CUBED * k * n;
  while (size < MOST_SAMPLED && size * size * size < cubed) size *= 2;
  size = Math.min(size, n >>> 6);
  // About k·size/n sampled elements are among the k largest. Four standard deviations more
  // make it almost certain that k entries reach the threshold; another four are the room
  // for those that do.
  const expected = (k * size) / n;
  const rank = Math.ceil(expected + 4 * Math.sqrt(expected) + 4);
  const most = rank + 4 * Math.sqrt(rank) + 4;
  return { size, rank, capacity: Math.ceil((most * n) / size) };
}
