/**
 * The lengths of the intervals over which buckets are summed: 1, 1, 2, 4, 8 … exchanges under a
 * plan, so that there is something to see at once, until an interval costs little for each
 * iteration; and longer ones in long runs, whose records stay few. A pure function of what all
 * ranks know, so their intervals are the same.
 */

/**
 * Least and most exchanges of an interval in a short run, exchanges for each bucket, which has a place
 * in the record, and for elements, of which a pass over the residual reads each.
 */
const LEAST = 16;
const MOST = 1024;
const FOR_EACH = 4;
const ELEMENTS = 2 ** 18;

/** Records of all ranks in each doubling of a long run. */
const RECORDS = 2048;

export interface IntervalSetting {
  readonly buckets: number;
  /** Elements of all buckets. */
  readonly elements: number;
  readonly ranks: number;
}

/**
 * Exchanges of the next interval, a power of two.
 * @param done exchanges under the plan before it
 */
export function nextInterval(
  done: number,
  { buckets, elements, ranks }: IntervalSetting,
): number {
  if (done < 2) return 1;
  const least = Math.max(LEAST, FOR_EACH * buckets, elements / ELEMENTS);
  const usual = Math.min(MOST, power(2 * least - 1));
  const late = power((done * ranks) / RECORDS);
  return Math.min(power(done), Math.max(usual, late));
}

/** The largest power of two up to a value; at least 1. */
function power(value: number): number {
  let power = 1;
  while (2 * power <= value) power *= 2;
  return power;
}
