/**
 * The mean of a series of iterations and its 95 % interval, by batch means: neighbouring
 * iterations resemble each other, so that the spread of single ones would promise too much. The
 * series is cut into at most ten batches in order, and the interval is Student's for their means.
 *
 * Source: Schmeiser, Batch size effects in the analysis of simulation output, 1982.
 */
import { studentQuantile } from './central-quantile.ts';

export interface Estimate {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

const MOST_BATCHES = 10;
const LEVEL = 0.95;

/** Quantiles by degrees of freedom: each takes thousands of evaluations. */
const quantiles = new Map<number, number>();

function quantileOf(freedom: number): number {
  const known = quantiles.get(freedom);
  if (known !== undefined) return known;
  const quantile = studentQuantile(freedom, LEVEL);
  quantiles.set(freedom, quantile);
  return quantile;
}

/** The estimate of a number that is known exactly. */
export const exactly = (mean: number): Estimate => ({ mean, low: mean, high: mean });

/** Fewer than two values give an interval without end; none give a mean that is not a number. */
export function meanInterval(values: ArrayLike<number>): Estimate {
  const { length } = values;
  const mean = meanBetween(values, 0, length);
  if (length < 2) return { mean, low: -Infinity, high: Infinity };
  const batches = Math.min(MOST_BATCHES, length);
  let squares = 0;
  for (let batch = 0; batch < batches; batch++) {
    const from = Math.floor((batch * length) / batches);
    const to = Math.floor(((batch + 1) * length) / batches);
    squares += (meanBetween(values, from, to) - mean) ** 2;
  }
  const deviation = Math.sqrt(squares / (batches - 1) / batches);
  const half = quantileOf(batches - 1) * deviation;
  return { mean, low: mean - half, high: mean + half };
}

function meanBetween(values: ArrayLike<number>, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at++) sum += values[at]!;
  return sum / (to - from);
}
