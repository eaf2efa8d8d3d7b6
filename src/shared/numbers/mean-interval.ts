/**
 * The mean of a series of iterations and its 95 % interval, by batch means: neighbouring
 * iterations resemble each other, so that the spread of single ones would promise too much. The
 * series is cut into at most ten batches in order, and the interval is Student's for their means.
 *
 * Source: Schmeiser, Batch size effects in the analysis of simulation output, 1982.
 */
import { studentQuantile } from './central-quantile.ts';
import { median } from './quantile.ts';

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
export const meanInterval = (values: readonly number[]): Estimate =>
  batchInterval(values, meanOf);

/** The same for the median, which a few long iterations do not move. */
export const medianInterval = (values: readonly number[]): Estimate =>
  batchInterval(values, (batch) => median(batch) ?? NaN);

function batchInterval(
  values: readonly number[],
  centre: (values: readonly number[]) => number,
): Estimate {
  const { length } = values;
  const mean = centre(values);
  if (length < 2) return { mean, low: -Infinity, high: Infinity };
  const batches = Math.min(MOST_BATCHES, length);
  const centres = Array.from({ length: batches }, (_, batch) =>
    centre(
      values.slice(
        Math.floor((batch * length) / batches),
        Math.floor(((batch + 1) * length) / batches),
      ),
    ),
  );
  const middle = meanOf(centres);
  const squares = centres.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  const half = quantileOf(batches - 1) * Math.sqrt(squares / (batches - 1) / batches);
  return { mean, low: mean - half, high: mean + half };
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
