/**
 * The part of an exchange that computing does not hide, once the exchange takes another time. Buckets
 * are exchanged as backpropagation finishes them: either as much stays hidden as now, or the same
 * part of it, such as all buckets but the last. Which of the two holds is not observed.
 */

/** An exchange as it was observed; both in the same unit. */
export interface ObservedExchange {
  readonly exposed: number;
  readonly hidden: number;
}

export interface ExposedTime {
  readonly low: number;
  readonly mean: number;
  readonly high: number;
}

/** @param time of the whole exchange, then, in the unit of what was observed */
export function exposedOf(
  time: number,
  { exposed, hidden }: ObservedExchange,
): ExposedTime {
  const total = exposed + hidden;
  // Exactly, so that what does not change is no change.
  if (hidden === 0) return { low: time, mean: time, high: time };
  if (time === total) return { low: exposed, mean: exposed, high: exposed };
  const asMuch = Math.max(0, time - hidden);
  const sameShare = (time * exposed) / total;
  return {
    low: Math.min(asMuch, sameShare),
    mean: (asMuch + sameShare) / 2,
    high: Math.max(asMuch, sameShare),
  };
}
