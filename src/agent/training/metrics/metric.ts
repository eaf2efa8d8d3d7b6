/**
 * A metric: turns a model's sums over samples into one number. Sums can be added over
 * blocks of samples and over ranks, so the number covers all samples.
 */
import type { MetricKind } from '../../../shared/records/metric.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';

/** Totals over some samples. */
export interface Totals {
  /** The mean loss of a prediction. */
  readonly loss: number;
  /** One per sample, or as many as the model says (`predictions`). */
  readonly predictions: number;
  /**
   * The totals of the model's `sums`, in order, or those of the tally if there is one. For a metric
   * of pairs: how many are in order, and the numbers of positive and of negative samples.
   */
  readonly sums: readonly number[];
}

/** Makes what is summed up of what a model gives, for instance a histogram of it. */
export interface Tally {
  /** Numbers that become of a sample. */
  readonly length: number;
  /**
   * Takes ownership of the model's `sums`, [rows] each.
   * @returns [rows, length]
   */
  of(jax: Jax, given: readonly JaxArray[]): JaxArray;
}

export interface Metric extends MetricKind {
  /** Number of sums that a model must return. */
  readonly sums: number;
  /** Tally of the sums. Left out: they are summed up as they are. */
  readonly tally?: Tally | undefined;
  /** Computes the metric; undefined if it has no meaning for these samples, and then absent. */
  value(totals: Totals): number | undefined;
}

/**
 * A metric of pairs of samples, such as the share of pairs that the scores put in order. The model's
 * two `sums` are then a score for each sample, and 1 for positive samples, else 0.
 */
export interface PairMetric extends Metric {
  readonly pairs: true;
}

export const isOfPairs = (metric: Metric): metric is PairMetric => 'pairs' in metric;

/** Pairs in order, positive samples, negative samples. */
const PAIR_SUMS = 3;

/** Numbers that are summed up over samples. */
export function sumCount(metric: Metric): number {
  return isOfPairs(metric) ? PAIR_SUMS : (metric.tally?.length ?? metric.sums);
}
