/**
 * α and β of a link from timed messages of several sizes: T(m) = α + β·m.
 *
 * Robust: the median of the repetitions of each size, so that a scheduler's slice or a
 * burst of other traffic does not count; then least squares over the sizes, each weighted
 * by 1/T², so that small and large messages are fitted with the same relative error.
 * Neither may be negative: if the fit makes one negative, only the other is fitted.
 */
import { median } from '../numbers/quantile.ts';

/** Messages of one size. */
export interface TimedMessages {
  readonly bytes: number;
  /** One-way time of each repetition. */
  readonly seconds: readonly number[];
}

export interface LinkCost {
  /** s per message. */
  readonly alpha: number;
  /** s per byte. */
  readonly beta: number;
}

/**
 * Needs at least two sizes with at least one repetition each.
 * Throws an internal error otherwise.
 */
export function fitLink(messages: readonly TimedMessages[]): LinkCost {
  const points = messages.flatMap(({ bytes, seconds }) => {
    const time = median(seconds);
    return time === undefined || time <= 0 ? [] : [{ bytes, time }];
  });
  if (new Set(points.map(({ bytes }) => bytes)).size < 2) {
    throw new Error(`internal: a link fitted to ${points.length} sizes`);
  }
  let ww = 0;
  let wm = 0;
  let wmm = 0;
  let wt = 0;
  let wmt = 0;
  for (const { bytes, time } of points) {
    const weight = 1 / (time * time);
    ww += weight;
    wm += weight * bytes;
    wmm += weight * bytes * bytes;
    wt += weight * time;
    wmt += weight * bytes * time;
  }
  const determinant = ww * wmm - wm * wm;
  const alpha = (wt * wmm - wmt * wm) / determinant;
  const beta = (ww * wmt - wm * wt) / determinant;
  if (alpha < 0) return { alpha: 0, beta: wmt / wmm };
  if (beta < 0) return { alpha: wt / ww, beta: 0 };
  return { alpha, beta };
}
