/** A node has lost its ranks; the run will resume from a checkpoint. */
import { machineName } from '../machines/machine-names.ts';
import { z } from 'zod';
import { errorDataSchema } from './fields.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unchanged } from './record-kind.ts';

const interruptedRecordSchema = z.strictObject({
  type: z.literal('interrupted'),
  at: z.number(),
  node: z.string(),
  error: errorDataSchema,
});
export type InterruptedRecord = z.infer<typeof interruptedRecordSchema>;

export const interruptedKind = eventKind({
  schema: interruptedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: ({ error, node }, { nodes }) => [
    `interrupted at ${machineName(node, nodes)}: ${error.message}`,
  ],
  tables: NO_TABLES,
  folds: false,
  text: ({ error, node }, { machine }) => ({
    tone: 'bad',
    title: 'Interrupted',
    text: `at ${machine?.(node) ?? node}: ${error.message}. The run will resume from its last checkpoint.`,
  }),
  summary: unchanged,
});
