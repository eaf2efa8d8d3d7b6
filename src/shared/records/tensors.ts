/** The tensors of a program of one's own, known once it has built its model. Made by rank 0. */
import { z } from 'zod';
import { formatCount } from '../words/units.ts';
import { bucketName } from './bucket-name.ts';
import { count } from './fields.ts';
import { eventKind, NO_TABLES, unchanged, unprinted } from './record-kind.ts';

/** Most tensors of a record: those of a larger model are not told, so its exchanges are not predicted. */
export const MOST_TENSORS = 5000;

const tensorsRecordSchema = z.strictObject({
  type: z.literal('tensors'),
  at: z.number(),
  /** Names and shapes in the order of the flat gradient. */
  tensors: z
    .array(
      z.strictObject({
        /** Name in the program. */
        name: z.string().max(1000),
        /** Sizes of its dimensions; none: a scalar. */
        shape: z.array(count).max(64).readonly(),
      }),
    )
    .min(1)
    .max(MOST_TENSORS)
    .readonly(),
});
export type TensorsRecord = z.infer<typeof tensorsRecordSchema>;

export const tensorsKind = eventKind({
  schema: tensorsRecordSchema,
  repetition: { by: 'name', name: () => 'tensors', untilNew: false },
  thinning: 'history',
  printed: unprinted,
  tables: NO_TABLES,
  folds: false,
  text: ({ tensors }) => ({
    tone: 'plain',
    title: 'Model',
    text:
      `${formatCount(tensors.length)} ${tensors.length === 1 ? 'tensor' : 'tensors'}: ` +
      bucketName(tensors.map(({ name }) => name)),
  }),
  summary: unchanged,
});
