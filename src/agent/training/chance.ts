/** The metric that a model reaches by guessing. */
import { ACCURACY } from '../../shared/records/metric.ts';
import { isOfPairs } from './metrics/metric.ts';
import type { Model } from './models/model.ts';

/**
 * 1 among the classes of the labels for accuracy, a half for AUC; undefined for other metrics, and
 * where the classes are not known. Where one class is frequent, guessing it reaches more.
 */
export function chanceOf({
  inputs,
  metric,
}: Pick<Model, 'inputs' | 'metric'>): number | undefined {
  if (isOfPairs(metric)) return 1 / 2;
  const classes = inputs['labels']?.below;
  const isKnown = metric.id === ACCURACY.id && classes !== undefined && classes > 1;
  return isKnown ? 1 / classes : undefined;
}
