/** All ranks of a node have written a checkpoint. Made by its supervisor. */
import { z } from 'zod';
import { formatBytes, formatDuration } from '../words/units.ts';
import { count, time } from './fields.ts';
import {
  eventKind,
  NEVER_REPEATED,
  NO_TABLES,
  unchanged,
  unprinted,
} from './record-kind.ts';

const checkpointRecordSchema = z.strictObject({
  type: z.literal('checkpoint'),
  at: z.number(),
  node: z.string(),
  /** The next iteration. */
  iteration: count,
  /** Bytes of all the node's ranks. */
  bytes: count,
  /** Time during which the slowest rank did nothing else. */
  wall: time,
});
export type CheckpointRecord = z.infer<typeof checkpointRecordSchema>;

export const checkpointKind = eventKind({
  schema: checkpointRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'measures',
  printed: unprinted,
  tables: NO_TABLES,
  folds: true,
  text: ({ bytes, iteration, node, wall }, { machine }) => ({
    tone: 'plain',
    title: 'Checkpoint',
    iteration,
    text: `${formatBytes(bytes)} at ${machine?.(node) ?? node} in ${formatDuration(wall)}`,
  }),
  summary: unchanged,
});
