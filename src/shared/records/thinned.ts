/**
 * Records before this one are missing: the node's journal reached its bound while no app stored
 * them, and dropped details. Made by the store, which knows what is missing.
 */
import { machineName } from '../machines/machine-names.ts';
import { z } from 'zod';
import { formatBytes, formatCount } from '../words/units.ts';
import { count } from './fields.ts';
import { eventKind, NEVER_REPEATED, NO_TABLES, unchanged } from './record-kind.ts';

export const thinnedRecordSchema = z.strictObject({
  type: z.literal('thinned'),
  /** When they were left out. */
  at: z.number(),
  node: z.string(),
  /** Number of records that are missing from the store. */
  records: count,
  /**
   * Iterations from ≤ i < to, of which at least every `every`-th is present for all the
   * node's ranks. Default: no iterations are missing.
   */
  iterations: z
    .strictObject({
      /** The first of them. */
      from: count,
      /** The last of them. */
      to: count,
      /** Number of iterations of which one is left. */
      every: count,
    })
    .optional(),
  /** The journal's bound. */
  limitBytes: count,
});
export type ThinnedRecord = z.infer<typeof thinnedRecordSchema>;

export const thinnedKind = eventKind({
  schema: thinnedRecordSchema,
  repetition: NEVER_REPEATED,
  thinning: 'history',
  printed: (record, { nodes }) => [
    `warning: ${describeThinned(record, machineName(record.node, nodes))}`,
  ],
  tables: NO_TABLES,
  folds: false,
  text: (record, { machine }) => ({
    tone: 'warn',
    title: 'Records thinned',
    ...(record.iterations === undefined ? {} : { iteration: record.iterations.from }),
    text: describeThinned(record, machine?.(record.node)),
  }),
  summary: unchanged,
});

/** @param machine its name in texts; default: as the record has it */
export function describeThinned(record: ThinnedRecord, machine = record.node): string {
  const { iterations, limitBytes, records } = record;
  const missing =
    records === 1
      ? '1 record is missing'
      : `${formatCount(records)} records are missing`;
  const kept =
    iterations === undefined
      ? ''
      : `; of iterations ${formatCount(iterations.from)} to ` +
        `${formatCount(iterations.to - 1)} at least one in ` +
        `${formatCount(iterations.every)} is kept`;
  return (
    `${missing}${kept}: ${machine} keeps at most ${formatBytes(limitBytes)} of a run while no ` +
    'app stores its records. Raise journalMB, or leave the app open'
  );
}
