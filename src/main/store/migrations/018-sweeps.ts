/**
 * Version 18: sweeps, their points and the queue of their runs.
 *
 * A run of a sweep is `queued` until it gets a run; then the run's own row says how it stands.
 * `failed`: it could not be launched. `interrupted`: it was stopped with the sweep, and goes back to
 * the queue with it. `changed` of a sweep is the number of the last change of any sweep.
 */
export const sweepsMigration = `
  CREATE TABLE sweeps (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL UNIQUE,
    keys TEXT NOT NULL,
    at_once INTEGER NOT NULL,
    is_stopped INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    driver INTEGER,
    driven_at REAL,
    created_at REAL NOT NULL,
    changed INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE sweep_points (
    sweep INTEGER NOT NULL REFERENCES sweeps (number) ON DELETE CASCADE,
    point INTEGER NOT NULL,
    label TEXT NOT NULL,
    texts TEXT NOT NULL,
    spec TEXT NOT NULL,
    PRIMARY KEY (sweep, point)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE sweep_runs (
    number INTEGER PRIMARY KEY,
    sweep INTEGER NOT NULL REFERENCES sweeps (number) ON DELETE CASCADE,
    entry INTEGER NOT NULL,
    position INTEGER NOT NULL,
    point INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL
      CHECK (state IN ('queued', 'launched', 'interrupted', 'failed', 'dropped')),
    run INTEGER REFERENCES runs (number) ON DELETE SET NULL,
    error TEXT,
    UNIQUE (sweep, entry),
    UNIQUE (sweep, point, seed)
  ) STRICT;

  CREATE INDEX sweep_runs_by_run ON sweep_runs (run);

  ALTER TABLE runs ADD COLUMN sweep INTEGER REFERENCES sweeps (number) ON DELETE SET NULL;
  CREATE INDEX runs_by_sweep ON runs (sweep) WHERE sweep IS NOT NULL;
`;
