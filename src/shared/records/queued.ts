/**
 * A run waits for a job of its cluster's scheduler. Made by the supervisor when the job is
 * submitted, and again whenever its status changes.
 */
import { z } from 'zod';
import { formatDateTime } from '../words/units.ts';
import { describeQueued, queueAdvice, queuedJob, reasonText } from './queue-text.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unchanged } from './record-kind.ts';

const queuedRecordSchema = z.strictObject({
  type: z.literal('queued'),
  at: z.number(),
  node: z.string(),
  /** The scheduler's job number; `not yet submitted` while it has taken no further job. */
  job: z.string(),
  /** The reason for waiting, in the scheduler's words. */
  reason: z.string().optional(),
  /** When the scheduler expects it to start. */
  expected: z.number().optional(),
});
export type QueuedRecord = z.infer<typeof queuedRecordSchema>;

export const queuedKind = eventKind({
  schema: queuedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: (record) => {
    const advice = queueAdvice(record);
    return [describeQueued(record), ...(advice === undefined ? [] : [advice])];
  },
  tables: NO_TABLES,
  folds: true,
  text: ({ expected, job, node, reason }) => ({
    tone: 'plain',
    title: 'Queued',
    text:
      `${queuedJob({ job })} at ${node}` +
      (reason === undefined ? '' : `: ${reasonText(reason)}`) +
      (expected === undefined ? '' : `, expected to start ${formatDateTime(expected)}`),
  }),
  summary: unchanged,
});
