/**
 * Version 12: what runs take on the disk, and runs that were purged.
 *
 * `bytes` of a run's records is kept up to date with every change; NULL for runs of earlier
 * versions until their records lie in blocks, when they are counted. `stored_at` is when
 * records of it last arrived. Runs being purged have `deleted` = 2. The ids of purged ones stay:
 * a machine that still has a journal of one is not asked for it again.
 */
export const runSizesMigration = `
  ALTER TABLE runs ADD COLUMN bytes INTEGER;
  ALTER TABLE runs ADD COLUMN stored_at REAL;

  CREATE TABLE purged_runs (
    id TEXT NOT NULL PRIMARY KEY
  ) STRICT, WITHOUT ROWID;
`;
