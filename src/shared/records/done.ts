/** The last record of a run that ended normally: all iterations done, or stopped. */
import { z } from 'zod';
import { describeMetric, formatMetric, metricKindSchema } from './metric.ts';
import { formatQuantity } from '../words/units.ts';
import { count } from './fields.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unprinted } from './record-kind.ts';

const doneRecordSchema = z.strictObject({
  type: z.literal('done'),
  at: z.number(),
  /** Whether all iterations are done, or a stop was asked for. */
  reason: z.enum(['completed', 'stopped']),
  /** Iterations that were done. */
  iterations: count,
  /** Absent if nothing is trained. */
  loss: z.number().optional(),
  /** The metric of the final model. */
  metric: z.number().optional(),
  /** The metric, as in the record of the start. */
  metricKind: metricKindSchema.optional(),
  /**
   * The metric of each replica if they drifted, before their weights were averaged into that
   * model.
   */
  replicaMetric: z.number().optional(),
  /** Whether all ranks ended with bit-identical weights; absent if nobody looked at them. */
  consistent: z.boolean().optional(),
  /** Set for a program: those weights are the ones that it attached, and it may have others. */
  attached: z.literal(true).optional(),
  /** Hex digest of the weights of rank 0, likewise. */
  weights: z.string().optional(),
  /** The drift before the final average, under a method whose replicas drift. */
  divergence: z.number().optional(),
});
export type DoneRecord = z.infer<typeof doneRecordSchema>;

export const doneKind = eventKind({
  schema: doneRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  // The run's last lines have it.
  printed: unprinted,
  tables: NO_TABLES,
  folds: false,
  text: (record) => ({
    tone: 'good',
    title: record.reason === 'completed' ? 'Completed' : 'Stopped',
    iteration: record.iterations,
    text: [
      ...(record.loss === undefined ? [] : [`loss ${formatQuantity(record.loss)}`]),
      ...(record.metric === undefined
        ? []
        : [describeMetric(record.metric, record.metricKind) + replicaText(record)]),
      ...(record.consistent === undefined
        ? []
        : [
            record.consistent
              ? `all ranks ended with identical ${weightsOf(record)}`
              : `ranks ended with different ${weightsOf(record)}`,
          ]),
    ].join(', '),
  }),
  summary: ({ at, metric, reason }) => ({ end: { state: reason, at, metric } }),
});

const weightsOf = ({ attached }: DoneRecord): string =>
  attached === true ? 'attached weights' : 'weights';

/** The replicas' metric, if the final model is their average. */
export function replicaText({ metricKind, replicaMetric }: DoneRecord): string {
  if (replicaMetric === undefined) return '';
  return ` (averaged model; replicas ${formatMetric(replicaMetric, metricKind)})`;
}
