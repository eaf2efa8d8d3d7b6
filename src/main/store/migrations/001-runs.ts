/**
 * Version 1: runs, and their records in two tables. Iterations are by far the most
 * numerous and are read by range, so they are clustered by (run, iteration, rank);
 * everything else is an event, in the order of the journal. A record is stored as its
 * validated JSON, so a new field needs no migration.
 */
export const runsMigration = `
  CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    switches TEXT NOT NULL,
    launcher INTEGER,
    state TEXT NOT NULL
      CHECK (state IN ('starting', 'running', 'completed', 'stopped', 'failed')),
    created_at REAL NOT NULL,
    ended_at REAL,
    error TEXT,
    deleted INTEGER NOT NULL DEFAULT 0,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    iterations INTEGER NOT NULL DEFAULT 0,
    iterations_planned INTEGER NOT NULL,
    ranks INTEGER NOT NULL,
    model TEXT NOT NULL,
    dataset TEXT NOT NULL,
    methods TEXT NOT NULL,
    loss REAL,
    metric REAL
  ) STRICT;

  CREATE INDEX runs_by_age ON runs (deleted, created_at);

  CREATE TABLE iterations (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    iteration INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, iteration, rank)
  ) STRICT, WITHOUT ROWID;

  CREATE UNIQUE INDEX iterations_by_sequence ON iterations (run, sequence);

  CREATE TABLE events (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (run, sequence)
  ) STRICT, WITHOUT ROWID;
`;
