/**
 * The numbers of an iteration record as one row of a typed array, for the charts. A
 * quantity that was not observed is NaN.
 */
import { PHASES } from '../../shared/phases.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';

const FIELDS = [
  ...PHASES,
  'wall',
  'overlapped',
  'dense',
  'payload',
  'wireSent',
  'wireReceived',
  'nnzLocal',
  'nnzReduced',
  'density',
  'residualNorm',
  'loss',
  'metric',
  'at',
] as const;
export type Field = (typeof FIELDS)[number];

export const FIELD_COUNT = FIELDS.length;

/** A field's position in a row. */
export const COLUMN = Object.fromEntries(
  FIELDS.map((field, index) => [field, index]),
) as Readonly<Record<Field, number>>;

/** Fields whose extremes are kept along with the mean, so that tails stay visible. */
export const BANDED_FIELDS = ['loss', 'metric', 'wall'] as const;
export type BandedField = (typeof BANDED_FIELDS)[number];

/** Write a record into `row`, FIELD_COUNT long. Allocates nothing. */
export function writeRow(record: IterationRecord, row: Float64Array): void {
  for (let i = 0; i < PHASES.length; i++) row[i] = record.phases[PHASES[i]!] ?? NaN;
  row[COLUMN.wall] = record.wall;
  row[COLUMN.overlapped] = record.overlapped;
  row[COLUMN.dense] = record.bytes.dense;
  row[COLUMN.payload] = record.bytes.payload;
  row[COLUMN.wireSent] = record.bytes.wireSent;
  row[COLUMN.wireReceived] = record.bytes.wireReceived;
  row[COLUMN.nnzLocal] = record.nnzLocal ?? NaN;
  row[COLUMN.nnzReduced] = record.nnzReduced ?? NaN;
  row[COLUMN.density] = record.density ?? NaN;
  row[COLUMN.residualNorm] = record.residualNorm ?? NaN;
  row[COLUMN.loss] = record.loss ?? NaN;
  row[COLUMN.metric] = record.metric ?? NaN;
  row[COLUMN.at] = record.at;
}
