/** The scheduler has started the job: ranks can start on its nodes. */
import { z } from 'zod';
import { describeAllocated } from './queue-text.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unchanged } from './record-kind.ts';

const allocatedRecordSchema = z.strictObject({
  type: z.literal('allocated'),
  at: z.number(),
  node: z.string(),
  /** The job's number in the scheduler. */
  job: z.string(),
  /** Names of the compute nodes, in the order of their ranks. */
  computeNodes: z.array(z.string()).readonly(),
  /** When the scheduler takes them back. */
  until: z.number().optional(),
});
export type AllocatedRecord = z.infer<typeof allocatedRecordSchema>;

export const allocatedKind = eventKind({
  schema: allocatedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: (record) => [describeAllocated(record)],
  tables: NO_TABLES,
  folds: false,
  text: (record) => ({
    tone: 'good',
    title: 'Nodes allocated',
    text: describeAllocated(record),
  }),
  summary: unchanged,
});
