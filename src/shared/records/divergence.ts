/** The distance by which the replicas have drifted apart: max over ranks of ‖wᵢ − w̄‖/‖w̄‖. */
import { z } from 'zod';
import { formatPercent } from '../words/units.ts';
import { count } from './fields.ts';
import { eventKind, NO_TABLES, unchanged, unprinted } from './record-kind.ts';

const divergenceRecordSchema = z.strictObject({
  type: z.literal('divergence'),
  at: z.number(),
  iteration: count,
  /** The distance, relative to the norm of the average. */
  value: z.number(),
});

export const divergenceKind = eventKind({
  schema: divergenceRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  // The end has the newest one.
  printed: unprinted,
  tables: NO_TABLES,
  folds: true,
  text: ({ iteration, value }) => ({
    tone: 'warn',
    title: 'Replicas drift',
    iteration,
    text: `farthest rank ${formatPercent(value)} from the mean weights`,
  }),
  summary: unchanged,
});
