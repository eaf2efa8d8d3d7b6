/** The metrics, by id. Adding one: its file and a line here. */
import { accuracy } from './accuracy.ts';
import { areaUnderCurve } from './area-under-curve.ts';
import { meanSquaredError } from './mean-squared-error.ts';
import type { Metric } from './metric.ts';
import { perplexity } from './perplexity.ts';
import { tokenAccuracy } from './token-accuracy.ts';

export const metrics: ReadonlyMap<string, Metric> = new Map(
  [accuracy, areaUnderCurve, perplexity, meanSquaredError, tokenAccuracy].map(
    (metric) => [metric.id, metric],
  ),
);
