/** The mean of a value over seeds, with Student's interval of 95 %. */
import { FEWEST_SEEDS, meanOf } from './bootstrap.ts';
import { studentQuantile } from '../numbers/central-quantile.ts';

export interface MeanInterval {
  readonly mean: number;
  /** Half the width of the interval; undefined with fewer than FEWEST_SEEDS values. */
  readonly half?: number | undefined;
  readonly count: number;
}

const LEVEL = 0.95;

/** @returns undefined without any value */
export function meanInterval(values: readonly number[]): MeanInterval | undefined {
  const count = values.length;
  if (count === 0) return undefined;
  const mean = meanOf(values);
  if (count < FEWEST_SEEDS) return { mean, count };
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const deviation = Math.sqrt(squares / (count - 1));
  const half = (studentQuantile(count - 1, LEVEL) * deviation) / Math.sqrt(count);
  return { mean, half, count };
}
