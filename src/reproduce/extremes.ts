/** Mean, minimum and maximum of values, formatted as the cells of a table row. */
import { mean } from './sweep.ts';

/** The columns of these cells. */
export const EXTREMES = ['least', 'most'] as const;

/** @param values at least one */
export const withExtremes = (
  values: readonly number[],
  format: (value: number) => string,
): readonly string[] =>
  [mean(values), Math.min(...values), Math.max(...values)].map(format);
