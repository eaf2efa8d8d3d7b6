/**
 * Version 14: what charts show of long runs, at several widths (`run-levels.ts`). A chunk has
 * the bins of a level and a part of the ranks for a stretch of records, which lie in blocks.
 * Runs of older versions get theirs from their blocks, step by step or when they are shown. The
 * levels of blocks (`iteration_blocks.level` > 0) are not read any more and are removed in steps.
 */
export const levelsMigration = `
  CREATE TABLE level_chunks (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    level INTEGER NOT NULL,
    part INTEGER NOT NULL,
    first_sequence INTEGER NOT NULL,
    last_sequence INTEGER NOT NULL,
    min_iteration INTEGER NOT NULL,
    max_iteration INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    content BLOB NOT NULL
  ) STRICT;

  CREATE UNIQUE INDEX level_chunks_by_place ON level_chunks
    (run, part, level, first_sequence, last_sequence, min_iteration, max_iteration, bytes);
`;
