/**
 * Version 6: journals leave out details when they reach their bound. So a rank's progress is no
 * longer the number of its stored iterations; it is stored by rank. For a journal it stores how
 * many omitted records no record of the run describes yet, and from which iteration on.
 */
export const thinnedJournalsMigration = `
  ALTER TABLE journals ADD COLUMN iterations INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journals ADD COLUMN left_out INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE journals ADD COLUMN left_out_from INTEGER NOT NULL DEFAULT 0;

  CREATE TABLE rank_progress (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    iterations INTEGER NOT NULL,
    PRIMARY KEY (run, rank)
  ) STRICT, WITHOUT ROWID;

  -- Of runs that have all of their records nothing more comes.
  INSERT INTO rank_progress (run, rank, iterations)
    SELECT run, rank, max(iteration) + 1 FROM iterations
    WHERE run IN (SELECT run FROM journals WHERE ending IS NULL)
    GROUP BY run, rank;
`;
