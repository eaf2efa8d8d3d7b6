/**
 * e to the mean cross-entropy of a prediction: among how many equally likely tokens a
 * language model is as unsure.
 */
import type { Metric } from './metric.ts';
import { exp } from '../../../shared/numbers/portable-math.ts';

export const perplexity: Metric = {
  id: 'perplexity',
  title: 'perplexity',
  format: 'number',
  better: 'lower',
  sums: 0,
  value: ({ loss }) => exp(loss),
};
