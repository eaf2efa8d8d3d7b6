/** Mean, least and most of values, as a row of a table has them. */
import { mean } from './sweep.ts';

/** The columns of these cells. */
export const EXTREMES = ['least', 'most'] as const;

/** @param values at least one */
export const withExtremes = (
  values: readonly number[],
  format: (value: number) => string,
): readonly string[] =>
  [mean(values), Math.min(...values), Math.max(...values)].map(format);
