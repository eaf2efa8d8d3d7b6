/** Compares what was applied in this iteration with what uncompressed ranks would apply. */
import { z } from 'zod';
import { formatPercent, formatQuantity } from '../words/units.ts';
import { count } from './fields.ts';
import { eventKind, unchanged, unprinted } from './record-kind.ts';

const comparisonRecordSchema = z.strictObject({
  type: z.literal('comparison'),
  at: z.number(),
  iteration: count,
  /** ‖applied − uncompressed‖ / ‖uncompressed‖; absent if the latter is 0. */
  error: z.number().optional(),
  /** Absent if one of them is 0. */
  cosine: z.number().optional(),
});

export const comparisonKind = eventKind({
  schema: comparisonRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  printed: unprinted,
  folds: true,
  text: ({ cosine, error, iteration }) => ({
    tone: 'plain',
    title: 'Compression error',
    iteration,
    text: `${formatPercent(error)} of the uncompressed gradient, cosine ${formatQuantity(cosine)}`,
  }),
  summary: unchanged,
});
