/**
 * The lengths of the intervals over which buckets are summed. Under each plan they are 1, 1, 2, 4,
 * 8 … exchanges, so that the first record comes at once, up to a length at which a record costs
 * little for each iteration. In long runs they grow further, so that records stay few. They depend
 * only on what all ranks know, so all ranks have the same intervals.
 */

/**
 * Limits of an interval in a short run, in exchanges. A record costs bytes for each bucket and a
 * pass over the residual, so an interval has at least `FOR_EACH` exchanges for each bucket and one
 * for each `ELEMENTS` elements.
 */
const LEAST = 16;
const MOST = 1024;
const FOR_EACH = 4;
const ELEMENTS = 2 ** 18;

/** Most records that all ranks together make while a long run doubles its length. */
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
