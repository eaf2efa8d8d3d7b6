/**
 * Version 15: traces of iterations in a separate table: one may take 200 kB, so they are read only
 * when a timeline is shown.
 */
export const tracesMigration = `
  CREATE TABLE traces (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    iteration INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX traces_by_place ON traces (run, iteration, rank);
`;
