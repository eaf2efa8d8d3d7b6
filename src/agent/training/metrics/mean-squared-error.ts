/** The mean of the squared errors. The model sums them up. */
import type { Metric } from './metric.ts';

export const meanSquaredError: Metric = {
  id: 'mse',
  title: 'mean squared error',
  format: 'number',
  better: 'lower',
  sums: 1,
  value: ({ sums: [squares], predictions }) => squares! / predictions,
};
