/**
 * e to the mean cross-entropy of a prediction: among how many equally likely tokens a
 * language model is as unsure.
 */
import type { Metric } from './metric.ts';

export const perplexity: Metric = {
  id: 'perplexity',
  title: 'perplexity',
  format: 'number',
  better: 'lower',
  sums: 0,
  value: ({ loss }) => Math.exp(loss),
};
