/**
 * The last record of a node without rank 0 whose ranks have all finished. The run's result is
 * in the journal of rank 0's node.
 */
import { z } from 'zod';
import {
  eventKind,
  NEVER_REPEATED,
  NO_TABLES,
  unchanged,
  unprinted,
} from './record-kind.ts';

const finishedRecordSchema = z.strictObject({
  type: z.literal('finished'),
  at: z.number(),
  node: z.string(),
});
export type FinishedRecord = z.infer<typeof finishedRecordSchema>;

export const finishedKind = eventKind({
  schema: finishedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: unprinted,
  tables: NO_TABLES,
  folds: false,
  text: ({ node }, { machine }) => ({
    tone: 'plain',
    title: 'Machine finished',
    text: `all ranks on ${machine?.(node) ?? node} have finished`,
  }),
  summary: unchanged,
});
