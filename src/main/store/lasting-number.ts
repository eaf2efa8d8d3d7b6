/** Numbers of rows that no later row gets, also if the row with the last one is gone. */
import type Database from 'better-sqlite3';

/** Tables with such numbers, and their columns. */
const COLUMNS = { runs: 'number', run_notes: 'id' } as const;

/**
 * Prepares what takes the next number of a table, within the transaction that inserts its row.
 * An earlier version, or a test, may have inserted rows without one.
 */
export function lastingNumber(
  database: Database.Database,
  table: keyof typeof COLUMNS,
): () => number {
  const next = database
    .prepare<[], number>(
      `
      INSERT INTO last_numbers (name, number)
      SELECT '${table}', coalesce(max(${COLUMNS[table]}), 0) + 1 FROM ${table} WHERE true
      ON CONFLICT DO UPDATE SET number = max(last_numbers.number + 1, excluded.number)
      RETURNING number`,
    )
    .pluck();
  return () => next.get()!;
}
