/**
 * The share of tokens that were predicted right, where sequences differ in length and padding
 * does not count. The model sums up the right ones, and those that count.
 */
import type { Metric } from './metric.ts';

export const tokenAccuracy: Metric = {
  id: 'token-accuracy',
  title: 'token accuracy',
  format: 'share',
  better: 'higher',
  sums: 2,
  value: ({ sums: [right, counted] }) =>
    counted === 0 ? undefined : right! / counted!,
};
