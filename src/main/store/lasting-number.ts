/** Numbers that are never given twice, even after the row with the highest one was deleted. */
import type Database from 'better-sqlite3';

/** The columns with such numbers, by the names of the numbers. */
const PLACES = {
  runs: { table: 'runs', column: 'number' },
  run_notes: { table: 'run_notes', column: 'id' },
  annotations: { table: 'runs', column: 'annotated' },
} as const;
type Name = keyof typeof PLACES;

/**
 * Prepares what takes the next number, within the transaction that writes it.
 * An earlier version, or a test, may have inserted rows without one.
 */
export function lastingNumber(database: Database.Database, name: Name): () => number {
  const { column, table } = PLACES[name];
  const next = database
    .prepare<[], number>(
      `
      INSERT INTO last_numbers (name, number)
      SELECT '${name}', coalesce(max(${column}), 0) + 1 FROM ${table} WHERE true
      ON CONFLICT DO UPDATE SET number = max(last_numbers.number + 1, excluded.number)
      RETURNING number`,
    )
    .pluck();
  return () => next.get()!;
}
