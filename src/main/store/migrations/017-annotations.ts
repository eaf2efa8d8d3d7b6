/**
 * Version 17: what users write on runs, apart from the specs, which stay as they were launched.
 *
 * `annotated` of a run is the number of the last change of any run's title, tags and notes, so that
 * other processes find those that have changed since; NULL: none ever did.
 */
export const annotationsMigration = `
  ALTER TABLE runs ADD COLUMN title TEXT;
  ALTER TABLE runs ADD COLUMN annotated INTEGER;
  CREATE INDEX runs_by_annotation ON runs (annotated) WHERE annotated IS NOT NULL;

  CREATE TABLE run_tags (
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    tag TEXT NOT NULL,
    PRIMARY KEY (run, tag)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE run_notes (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    iteration INTEGER,
    text TEXT NOT NULL,
    written_at REAL NOT NULL
  ) STRICT;

  CREATE INDEX notes_by_run ON run_notes (run, iteration);
`;
