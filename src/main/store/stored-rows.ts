/** Rows of records as entries, as many as fit into a message. */
import { fitting } from './json-bound.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { StoredRow } from './statements.ts';

/** Bytes of a row in a message. */
export const bytesOf = ({ record }: StoredRow): number =>
  Buffer.byteLength(record) + 100;

/** The first rows that fit into a message. */
export const fittingRows = (
  rows: readonly StoredRow[],
  most?: number,
): readonly StoredRow[] => rows.slice(0, fitting(rows, bytesOf, most));

export const entriesOf = (rows: readonly StoredRow[]): readonly JournalEntry[] =>
  fittingRows(rows).map(entryOf);

export const entryOf = (row: StoredRow): JournalEntry => ({
  sequence: row.sequence,
  record: JSON.parse(row.record) as RunRecord,
});
