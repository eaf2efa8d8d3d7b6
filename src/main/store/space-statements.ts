/** The SQL that looks after the history's space (`history-space.ts`). */
import type Database from 'better-sqlite3';

/** Rows deleted in one step. */
const STEP_ROWS = 128;
/** Bytes that a record of an earlier version takes, about. */
const ROW_BYTES = 650;

export function prepareSpace(database: Database.Database) {
  return {
    addBytes: database.prepare<[number, number]>(
      'UPDATE runs SET bytes = bytes + ? WHERE number = ?',
    ),
    /** Called for a run of an earlier version, once its records lie in blocks. */
    countBytes: database.prepare<[{ run: number }]>(`
      UPDATE runs SET bytes =
        (SELECT total(bytes) FROM iteration_blocks WHERE run = @run)
        + (SELECT total(bytes) FROM level_chunks WHERE run = @run)
        + (SELECT total(length(record)) FROM events WHERE run = @run)
        + (SELECT total(length(record)) FROM log_lines WHERE run = @run)
        + (SELECT total(length(record)) FROM traces WHERE run = @run)
        + (SELECT total(length(record)) FROM bucket_sums WHERE run = @run)
        + (SELECT total(length(record)) FROM utilisation WHERE run = @run)
      WHERE number = @run AND bytes IS NULL`),
    isOpen: database.prepare<[number], { node: string }>(
      'SELECT node FROM journals WHERE run = ? AND ending IS NULL LIMIT 1',
    ),
    deleted: database.prepare<[], { runs: number; bytes: number }>(`
      SELECT count(*) AS runs, total(coalesce(bytes, last_sequence * ${ROW_BYTES})) AS bytes
      FROM runs WHERE deleted = 1`),
    deletedRuns: database.prepare<[], { id: string }>(
      'SELECT id FROM runs WHERE deleted = 1 ORDER BY number',
    ),
    beginPurge: database.prepare<[number]>(
      'UPDATE runs SET deleted = 2 WHERE number = ?',
    ),
    inProgress: database.prepare<[], { number: number }>(
      `SELECT number FROM runs WHERE state IN ('starting', 'running') LIMIT 1`,
    ),
    purging: database.prepare<[], { number: number; id: string }>(
      'SELECT number, id FROM runs WHERE deleted = 2 LIMIT 1',
    ),
    oldLevels: database.prepare<[], { id: number; run: number; bytes: number }>(`
      SELECT id, run, bytes FROM iteration_blocks WHERE level > 0
      LIMIT ${STEP_ROWS / 8}`),
    removeBlock: database.prepare<[number]>(
      'DELETE FROM iteration_blocks WHERE id = ?',
    ),
    removals: [
      ...['level_chunks', 'iteration_blocks'].map(
        (table) => `DELETE FROM ${table} WHERE id IN
          (SELECT id FROM ${table} WHERE run = @run LIMIT ${STEP_ROWS / 8})`,
      ),
      ...[
        'iterations',
        'events',
        'log_lines',
        'traces',
        'bucket_sums',
        'utilisation',
      ].map(
        (table) => `DELETE FROM ${table} WHERE run = @run AND sequence IN
          (SELECT sequence FROM ${table} WHERE run = @run
            ORDER BY sequence LIMIT ${STEP_ROWS})`,
      ),
    ].map((sql) => database.prepare<[{ run: number }]>(sql)),
    remember: database.prepare<[string]>(
      'INSERT OR IGNORE INTO purged_runs (id) VALUES (?)',
    ),
    purgedRuns: database.prepare<[], { count: number }>(`
      SELECT (SELECT count(*) FROM purged_runs) +
        (SELECT count(*) FROM runs WHERE deleted = 2) AS count`),
    /** Deletes a run with what is left of it: a row for each node and rank. */
    removeRun: database.prepare<[number]>('DELETE FROM runs WHERE number = ?'),
    isPurged: database.prepare<[{ id: string }], { found: 1 }>(`
      SELECT 1 AS found FROM purged_runs WHERE id = @id
      UNION ALL SELECT 1 FROM runs WHERE id = @id AND deleted = 2`),
  };
}
