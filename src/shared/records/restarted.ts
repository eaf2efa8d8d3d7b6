/**
 * The ranks of a node resume. Iterations that were already recorded are repeated, but not
 * recorded again.
 */
import { z } from 'zod';
import { count, processesSchema } from './fields.ts';
import { ranksOn } from './rank-places.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unchanged } from './record-kind.ts';

const restartedRecordSchema = z.strictObject({
  type: z.literal('restarted'),
  at: z.number(),
  node: z.string(),
  /** The first iteration that they train. */
  iteration: count,
  processes: processesSchema,
});

export const restartedKind = eventKind({
  schema: restartedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: ({ iteration, processes }, { nodes }) => {
    const s = processes.length === 1 ? 's' : '';
    const how =
      iteration === 0
        ? `start${s} again from the beginning`
        : `resume${s} from a checkpoint`;
    return [`── iteration ${iteration}: ${ranksOn(processes, nodes)} ${how}`];
  },
  tables: NO_TABLES,
  folds: false,
  text: ({ iteration, node }, { machine }) => ({
    tone: 'good',
    title: 'Restarted',
    iteration,
    text:
      `the ranks on ${machine?.(node) ?? node} ` +
      (iteration === 0
        ? 'start again from the beginning'
        : `resume from iteration ${iteration}`),
  }),
  summary: unchanged,
});
