/** The last record of a run that failed. */
import { z } from 'zod';
import { errorDataSchema } from './fields.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unprinted } from './record-kind.ts';

const failedRecordSchema = z.strictObject({
  type: z.literal('failed'),
  at: z.number(),
  error: errorDataSchema,
});
export type FailedRecord = z.infer<typeof failedRecordSchema>;

export const failedKind = eventKind({
  schema: failedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  // The command's error message has it.
  printed: unprinted,
  tables: NO_TABLES,
  folds: false,
  text: ({ error }) => ({ tone: 'bad', title: 'Failed', text: error.message }),
  summary: ({ at, error }) => ({ end: { state: 'failed', at, error } }),
});
