/**
 * The lengths of the intervals over which buckets are summed: 1, 1, 2, 4, 8 … exchanges under a
 * plan, so that there is something to see at once, until an interval costs little for each
 * iteration; and longer ones in long runs, whose records stay few. A pure function of what all
 * ranks know, so their intervals are the same.
 */

/** Least and most exchanges of an interval in a short run, and exchanges for each bucket. */
const LEAST = 16;
const MOST = 1024;
const FOR_EACH = 4;

/** Records of all ranks in each doubling of a long run. */
const RECORDS = 2048;

export interface IntervalSetting {
  readonly buckets: number;
  readonly ranks: number;
}

/**
 * Exchanges of the next interval, a power of two.
 * @param done exchanges under the plan before it
 */
export function nextInterval(
  done: number,
  { buckets, ranks }: IntervalSetting,
): number {
  if (done < 2) return 1;
  const usual = Math.min(MOST, Math.max(LEAST, power(2 * FOR_EACH * buckets - 1)));
  const late = power((done * ranks) / RECORDS);
  return Math.min(power(done), Math.max(usual, late));
}

/** The largest power of two up to a value; at least 1. */
function power(value: number): number {
  let power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}
