/** The share of predictions that were right. The model sums up the right ones. */
import { ACCURACY } from '../../../shared/records/metric.ts';
import type { Metric } from './metric.ts';

export const accuracy: Metric = {
  ...ACCURACY,
  sums: 1,
  value: ({ sums: [right], predictions }) => right! / predictions,
};
