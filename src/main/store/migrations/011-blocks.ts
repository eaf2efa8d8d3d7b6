/**
 * Version 11: iteration records lie in blocks (`iteration-archive.ts`); the table of iterations
 * keeps the newest ones until they fill a block. So what older versions wrote is a long tail,
 * which moves into blocks step by step while the app works.
 *
 * `level` n holds every 16ⁿ-th iteration once more, so that a thinned run is read without the
 * others. The index has all that a search asks of blocks, so their content is not read for it.
 */
export const blocksMigration = `
  CREATE TABLE iteration_blocks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    level INTEGER NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    min_iteration INTEGER NOT NULL,
    max_iteration INTEGER NOT NULL,
    records INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX iteration_blocks_by_place ON iteration_blocks
    (run, level, first_sequence, last_sequence, min_iteration, max_iteration, records, bytes);
`;
