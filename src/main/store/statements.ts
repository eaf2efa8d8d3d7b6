/** The store's SQL, prepared once for a connection. */
import type Database from 'better-sqlite3';
import { lastingNumber } from './lasting-number.ts';
import { SHAPES_RUN } from './migrations/013-event-indices.ts';
import type { JournalRow, RunRow, MissingJournal } from './run-row.ts';

/** Records of a page, unless a reader says how many. */
export const PAGE = 1000;

/** Newest events that have the state of a waiting run's job: nothing else is recorded meanwhile. */
export const NEWEST_EVENTS = 8;

/** Kinds of events that say whether a run waits for a job, in SQL. */
export const WAITS = "'queued', 'allocated', 'started', 'interrupted', 'restarted'";

/** Characters of a note that lists show. */
const NOTE_SHOWN = 200;

/** The condition that a journal of an ended run is missing: the run ended without it. */
const IS_MISSING = `ending IS NULL AND (state <> 'failed' OR journals.last_sequence > 0)
    AND (SELECT count(*) FROM journals AS others WHERE others.run = journals.run) > 1`;

/**
 * Columns of a run. They include the place in the cluster's queue of one that has not ended.
 * A long run may have thousands of events, and this query runs with every batch of records.
 */
export const RUN = `runs.*, CASE WHEN state IN ('starting', 'running') THEN (
    SELECT record FROM (
      SELECT record, sequence FROM events
      WHERE run = runs.number ORDER BY sequence DESC LIMIT ${NEWEST_EVENTS})
    WHERE record ->> '$.type'
      IN (${WAITS})
    ORDER BY sequence DESC LIMIT 1) END AS queue,
  CASE WHEN state NOT IN ('starting', 'running') THEN (
    SELECT json_group_array(node) FROM journals
    WHERE journals.run = runs.number AND ${IS_MISSING}) END AS missing,
  CASE WHEN annotated IS NOT NULL THEN (
    SELECT json_group_array(tag) FROM (
      SELECT tag FROM run_tags WHERE run = runs.number ORDER BY tag)) END AS tags,
  CASE WHEN annotated IS NOT NULL THEN (
    SELECT substr(text, 1, ${NOTE_SHOWN}) FROM run_notes WHERE run = runs.number
    ORDER BY iteration IS NOT NULL, id DESC LIMIT 1) END AS note,
  CASE WHEN sweep IS NOT NULL THEN (
    SELECT json_object('id', sweeps.id, 'name', sweeps.name) FROM sweeps
    WHERE sweeps.number = runs.sweep) END AS of_sweep`;

/** Most traces that are looked at for a piece. */
export const TRACES_PAGE = 256;

export interface StoredRow {
  readonly sequence: number;
  readonly record: string;
}

export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: Database.Database) {
  return {
    nextRun: lastingNumber(database, 'runs'),
    createRun: database.prepare(`
      INSERT INTO runs (number, id, name, spec, switches, launcher, state, created_at,
        iterations_planned, ranks, model, dataset, methods, bytes)
      VALUES (@number, @id, @name, @spec, @switches, @launcher, 'starting', @created_at,
        @iterations_planned, @ranks, @model, @dataset, @methods, 0)`),
    runById: database.prepare<[string], RunRow>(
      `SELECT ${RUN} FROM runs WHERE id = ? AND deleted < 2`,
    ),
    idsByPrefix: database.prepare<[{ prefix: string }], { id: string }>(`
      SELECT id FROM runs
      WHERE substr(id, 1, length(@prefix)) = @prefix AND deleted < 2
      ORDER BY created_at DESC LIMIT 100`),
    listRuns: database.prepare<
      [{ deleted: number; search: string; limit: number; offset: number }],
      RunRow
    >(`
      SELECT ${RUN} FROM runs
      WHERE deleted = @deleted
        AND (name || ' ' || id || ' ' || model || ' ' || dataset || ' ' || methods
          || ' ' || state) LIKE @search ESCAPE '\\'
      ORDER BY created_at DESC, number DESC LIMIT @limit OFFSET @offset`),
    unendedRuns: database.prepare<[], RunRow>(
      `SELECT ${RUN} FROM runs WHERE state IN ('starting', 'running') ORDER BY number`,
    ),
    endedRunsAfter: database.prepare<[number], { id: string }>(
      `SELECT id FROM runs WHERE number > ? AND state NOT IN ('starting', 'running')`,
    ),
    newestRun: database.prepare<[], { number: number }>(
      'SELECT coalesce(max(number), 0) AS number FROM runs',
    ),
    tracedIterations: database.prepare<
      [number],
      { iteration: number; records: number }
    >(`
      SELECT iteration, count(*) AS records FROM traces WHERE run = ?
      GROUP BY iteration ORDER BY iteration`),
    traces: database.prepare<
      [{ run: number; from: number; fromRank: number; to: number }],
      StoredRow
    >(`
      SELECT sequence, record FROM traces
      WHERE run = @run AND (iteration, rank) >= (@from, @fromRank) AND iteration < @to
      ORDER BY iteration, rank LIMIT ${TRACES_PAGE}`),
    bucketIntervals: database.prepare<
      [{ run: number; from: number; to: number; rank: number | null }],
      { from: number; to: number }
    >(`
      SELECT DISTINCT first AS "from", last AS "to" FROM bucket_sums
      WHERE run = @run AND first < @to AND last > @from AND rank = coalesce(@rank, rank)`),
    bucketSums: database.prepare<
      [
        {
          run: number;
          from: number;
          to: number;
          rank: number | null;
          afterFirst: number;
          afterLast: number;
          afterRank: number;
          limit: number;
        },
      ],
      { first: number; last: number; rank: number; record: Uint8Array }
    >(`
      SELECT first, last, rank, record FROM bucket_sums
      WHERE run = @run AND (first, last, rank) > (@afterFirst, @afterLast, @afterRank)
        AND first < @to AND last > @from AND rank = coalesce(@rank, rank)
      ORDER BY first, last, rank LIMIT @limit`),
    utilisationPlaces: database.prepare<
      [{ run: number; from: number; to: number }],
      { sequence: number; from: number; to: number }
    >(`
      SELECT sequence, first AS "from", last AS "to" FROM utilisation
      WHERE run = @run AND last > @from AND first < @to ORDER BY sequence`),
    utilisationAt: database.prepare<[number, number], { record: string }>(
      'SELECT record FROM utilisation WHERE run = ? AND sequence = ?',
    ),
    utilisationAfter: database.prepare<
      [{ run: number; after: number; limit: number }],
      StoredRow
    >(`
      SELECT sequence, record FROM utilisation WHERE run = @run AND sequence > @after
      ORDER BY sequence LIMIT @limit`),
    logAfter: database.prepare<
      [{ run: number; after: number }],
      { sequence: number; record: string }
    >(`
      SELECT sequence, record FROM log_lines WHERE run = @run AND sequence > @after
      UNION ALL
      SELECT sequence, record FROM events WHERE run = @run AND sequence > @after
      ORDER BY sequence LIMIT ${PAGE}`),
    eventsAfter: database.prepare<
      [{ run: number; after: number; limit: number }],
      StoredRow
    >(`
      SELECT sequence, record FROM events WHERE run = @run AND sequence > @after
      ORDER BY sequence LIMIT @limit`),
    logLinesAfter: database.prepare<[{ run: number; after: number }], StoredRow>(`
      SELECT sequence, record FROM log_lines WHERE run = @run AND sequence > @after
      ORDER BY sequence LIMIT ${PAGE}`),
    newestEvents: database.prepare<[number, number], StoredRow>(`
      SELECT sequence, record FROM events WHERE run = ?
      ORDER BY sequence DESC LIMIT ?`),
    shapingEvents: database.prepare<
      [{ run: number; before: number; limit: number }],
      StoredRow
    >(`
      SELECT sequence, record FROM events
      WHERE run = @run AND sequence < @before AND ${SHAPES_RUN}
      ORDER BY sequence DESC LIMIT @limit`),
    countEvents: database.prepare<[number], { count: number }>(
      'SELECT count(*) AS count FROM events WHERE run = ?',
    ),
    evaluations: database.prepare<
      [{ run: number; from: number; to: number }],
      { record: string }
    >(`
      SELECT record FROM events
      WHERE run = @run AND record ->> '$.type' = 'evaluation'
        AND record ->> '$.iteration' >= @from AND record ->> '$.iteration' < @to
      ORDER BY record ->> '$.iteration', sequence`),
    events: database.prepare<[number], { record: string }>(
      'SELECT record FROM events WHERE run = ? ORDER BY sequence',
    ),
    addBytes: database.prepare<[number, number]>(
      'UPDATE runs SET bytes = bytes + ? WHERE number = ?',
    ),
    createJournal: database.prepare<[number | bigint, string]>(
      'INSERT INTO journals (run, node) VALUES (?, ?)',
    ),
    journal: database.prepare<[number, string], JournalRow>(
      'SELECT * FROM journals WHERE run = ? AND node = ?',
    ),
    journals: database.prepare<[number], JournalRow>(
      'SELECT * FROM journals WHERE run = ?',
    ),
    missingJournals: database.prepare<[], MissingJournal>(`
      SELECT runs.id AS run, node FROM journals JOIN runs ON runs.number = journals.run
      WHERE state NOT IN ('starting', 'running') AND deleted < 2 AND ${IS_MISSING}
      ORDER BY runs.number`),
    failRun: database.prepare<[string, number, string]>(`
      UPDATE runs SET state = 'failed', error = ?, ended_at = ?, launcher = NULL
      WHERE id = ? AND state IN ('starting', 'running')`),
    reopenRun: database.prepare<{ id: string; codes: string }>(`
      UPDATE runs SET state = 'running', error = NULL, ended_at = NULL
      WHERE id = @id AND state = 'failed'
        AND error ->> '$.code' IN (SELECT value FROM json_each(@codes))
        AND NOT EXISTS (SELECT 1 FROM events WHERE events.run = runs.number
          AND record ->> '$.type' IN ('done', 'failed'))`),
    mendRun: database.prepare<RunRow>(`
      UPDATE runs SET spec = @spec, switches = @switches, methods = @methods,
        error = @error, metric_kind = @metric_kind, alerts = @alerts
      WHERE number = @number`),
    setDeleted: database.prepare<[number, number]>(
      'UPDATE runs SET deleted = ? WHERE number = ? AND deleted < 2',
    ),
  };
}
