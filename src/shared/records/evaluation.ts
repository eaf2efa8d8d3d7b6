/** The test set, evaluated together by all ranks after an iteration. Made by rank 0. */
import { z } from 'zod';
import { ACCURACY, describeMetric, metricKindSchema } from './metric.ts';
import { formatCount, formatDuration, formatQuantity } from '../words/units.ts';
import { count, time } from './fields.ts';
import { eventKind, unprinted } from './record-kind.ts';
import { number, whole, words } from './table-column.ts';

export const evaluationRecordSchema = z.strictObject({
  type: z.literal('evaluation'),
  iteration: count,
  at: z.number(),
  /** Absent if it is not finite, like `metric`; a notice reports that. */
  loss: z.number().optional(),
  /** Accuracy on the test set, 0…1. If replicas drift: of each on its share of the set. */
  metric: z.number().optional(),
  /** Loss and metric of the model whose weights are the replicas' average, if replicas drift. */
  averaged: z
    .strictObject({ loss: z.number().optional(), metric: z.number().optional() })
    .optional(),
  /** The metric, as in the record of the start. */
  metricKind: metricKindSchema.optional(),
  /** Samples of the test set. */
  samples: count,
  wall: time,
});
export type EvaluationRecord = z.infer<typeof evaluationRecordSchema>;

export const evaluationKind = eventKind({
  schema: evaluationRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  // The line of progress and the end have the newest one.
  printed: unprinted,
  tables: [
    {
      id: 'evaluations',
      title: 'Evaluations on the test set',
      columns: [
        whole('iteration', (r: EvaluationRecord) => r.iteration),
        number('at_ms', (r: EvaluationRecord) => r.at),
        number('loss', (r: EvaluationRecord) => r.loss),
        number('metric', (r: EvaluationRecord) => r.metric),
        number('averaged_loss', (r: EvaluationRecord) => r.averaged?.loss),
        number('averaged_metric', (r: EvaluationRecord) => r.averaged?.metric),
        words('metric_name', (r: EvaluationRecord) => (r.metricKind ?? ACCURACY).id),
        whole('samples', (r: EvaluationRecord) => r.samples),
        number('wall_ms', (r: EvaluationRecord) => r.wall),
      ],
    },
  ],
  folds: true,
  text: (record) => ({
    tone: 'plain',
    title: 'Evaluation',
    iteration: record.iteration,
    text:
      measuredText(record) +
      ` on ${formatCount(record.samples)} samples in ${formatDuration(record.wall)}`,
  }),
  summary: ({ metric }) => (metric === undefined ? undefined : { metric }),
});

function measuredText({ averaged, metricKind, ...own }: EvaluationRecord): string {
  const text = ({ loss, metric }: NonNullable<EvaluationRecord['averaged']>): string =>
    `${describeMetric(metric, metricKind)}, loss ${formatQuantity(loss)}`;
  if (averaged === undefined) return text(own);
  return `replicas: ${text(own)}; averaged model: ${text(averaged)};`;
}
