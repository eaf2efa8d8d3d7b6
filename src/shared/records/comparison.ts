/** Compares what was applied in this iteration with what uncompressed ranks would apply. */
import { z } from 'zod';
import { formatPercent, formatQuantity } from '../words/units.ts';
import { count } from './fields.ts';
import { magnitudesSchema } from './magnitudes.ts';
import { eventKind, NO_TABLES, unchanged, unprinted } from './record-kind.ts';

const rivalMethodSchema = z.strictObject({
  /** The largest elements, as top-k keeps them, or all signs with one magnitude, as one bit does. */
  keeps: z.enum(['largest', 'signs']),
  /** The share of the elements that are the largest, 0…1. */
  ratio: z.number().optional(),
  /** The cosine of the part that it keeps with the uncompressed gradient, 0…1. */
  cosine: z.number(),
});
export type RivalMethod = z.infer<typeof rivalMethodSchema>;

const comparisonRecordSchema = z.strictObject({
  type: z.literal('comparison'),
  at: z.number(),
  iteration: count,
  /** ‖applied − uncompressed‖ / ‖uncompressed‖; absent if the latter is 0. */
  error: z.number().optional(),
  /**
   * The most that `error` is expected to be by what the method's paper proves, as QSGD's Lemma 3.1; absent where it
   * proves nothing.
   */
  bound: z.number().optional(),
  /** Absent if one of them is 0. */
  cosine: z.number().optional(),
  /** Other methods, applied to the uncompressed gradient without a residual. */
  rivals: z.array(rivalMethodSchema).max(100).readonly().optional(),
  /** Magnitudes of the elements of what rank 0 would apply without compression. */
  uncompressed: magnitudesSchema.optional(),
  /** Magnitudes of the elements of what rank 0 applies. */
  applied: magnitudesSchema.optional(),
});

export const comparisonKind = eventKind({
  schema: comparisonRecordSchema,
  repetition: { by: 'iteration' },
  thinning: 'measures',
  printed: unprinted,
  tables: NO_TABLES,
  folds: true,
  text: ({ bound, cosine, error, iteration }) => ({
    tone: 'plain',
    title: 'Compression error',
    iteration,
    text:
      `${formatPercent(error)} of the uncompressed gradient` +
      (bound === undefined ? '' : ` (theory expects at most ${formatPercent(bound)})`) +
      `, cosine ${formatQuantity(cosine)}`,
  }),
  summary: unchanged,
});
