/**
 * Version 5: lines that ranks print, in a separate table: events are read whole whenever a
 * run is shown, and there may be a thousand times as many lines.
 */
export const logLinesMigration = `
  CREATE TABLE log_lines (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
  ) STRICT, WITHOUT ROWID;
`;
