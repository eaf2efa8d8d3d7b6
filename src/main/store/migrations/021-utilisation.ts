/**
 * Version 21: the use of machines in a separate table, which is read only where it is shown. An index
 * has the iterations of each record.
 */
export const utilisationMigration = `
  CREATE TABLE utilisation (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX utilisation_by_place ON utilisation (run, last, first);
`;
