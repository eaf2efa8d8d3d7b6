/**
 * A metric: how what a model sums up over samples becomes one number. Sums can be added,
 * over blocks of samples and over ranks, so the number is that of all samples together.
 */
import type { MetricKind } from '../../../shared/metric.ts';

/** Over some samples. */
export interface Totals {
  /** The mean loss of a prediction. */
  readonly loss: number;
  /** One per sample, or as many as the model says (`predictions`). */
  readonly predictions: number;
  /** What the model's `sums` come to, in their order. */
  readonly sums: readonly number[];
}

export interface Metric extends MetricKind {
  /** How many sums a model has to give. */
  readonly sums: number;
  value(totals: Totals): number;
}
