/**
 * Version 23: the last number that a run, or a note, was given. SQLite gives the number of the last row to the
 * next one once that row is gone; but a process may still have records of a purged run by its number,
 * and a page a note that was removed elsewhere.
 */
export const lastingNumbersMigration = `
  CREATE TABLE last_numbers (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  INSERT INTO last_numbers SELECT 'runs', coalesce(max(number), 0) FROM runs;
  INSERT INTO last_numbers SELECT 'run_notes', coalesce(max(id), 0) FROM run_notes;
`;
