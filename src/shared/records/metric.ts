/**
 * The metric of a model besides its loss, as records, pages and the command line name it.
 * Records state it unless it is the accuracy.
 */
import { z } from 'zod';
import { formatPercent, formatQuantity } from '../words/units.ts';

export const metricKindSchema = z.strictObject({
  id: z.string().min(1).max(40),
  /** The metric's name, as in "accuracy 91.2 %". */
  title: z.string().min(1).max(40),
  /** A share of 1 is shown in percent. */
  format: z.enum(['share', 'number']),
  better: z.enum(['higher', 'lower']),
});
export type MetricKind = z.infer<typeof metricKindSchema>;

export const ACCURACY: MetricKind = {
  id: 'accuracy',
  title: 'accuracy',
  format: 'share',
  better: 'higher',
};

/** The metric of workloads that train nothing. */
export const NO_METRIC: MetricKind = {
  id: 'none',
  title: 'no metric',
  format: 'number',
  better: 'higher',
};

/** Returns the metric's field of a record: empty for the accuracy, which is the default. */
export function statedKind(kind: MetricKind): { readonly metricKind?: MetricKind } {
  return kind.id === ACCURACY.id ? {} : { metricKind: kind };
}

/** A value alone: `91.2 %`, `4.31`. */
export function formatMetric(
  value: number | undefined,
  { format }: Pick<MetricKind, 'format'> = ACCURACY,
): string {
  if (format === 'share') return formatPercent(value);
  if (value === undefined || !Number.isFinite(value) || value >= 1000) {
    return formatQuantity(value);
  }
  return value.toPrecision(4);
}

/** Writes a value with its metric's name: `accuracy 91.2 %`, `perplexity 4.31`. */
export function describeMetric(
  value: number | undefined,
  kind: MetricKind = ACCURACY,
): string {
  return `${kind.title} ${formatMetric(value, kind)}`;
}
