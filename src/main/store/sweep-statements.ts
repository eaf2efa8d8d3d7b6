/** The SQL of sweeps, prepared once for a connection. */
import type Database from 'better-sqlite3';
import type { PointRow, SweepRow, SweepRunRow } from './sweep-rows.ts';

export interface QueuedRow {
  readonly entry: number;
  readonly seed: number;
  readonly label: string;
  readonly spec: string;
}

const NEXT_CHANGE = '(SELECT coalesce(max(changed), 0) + 1 FROM sweeps)';

/** First what has begun, by its begin; then the queue. */
const QUEUE_ORDER = `state NOT IN ('launched', 'interrupted'), runs_created, position`;

export function prepareSweepStatements(database: Database.Database) {
  return {
    create: database.prepare(`
      INSERT INTO sweeps (id, name, keys, at_once, driver, driven_at, created_at, changed)
      VALUES (@id, @name, @keys, @at_once, @driver, @created_at, @created_at, ${NEXT_CHANGE})`),
    addPoint: database.prepare<[number, number, string, string, string]>(
      'INSERT INTO sweep_points (sweep, point, label, texts, spec) VALUES (?, ?, ?, ?, ?)',
    ),
    addSeed: database.prepare<[{ sweep: number; seed: number }]>(`
      INSERT OR IGNORE INTO sweep_runs (sweep, entry, position, point, seed, state)
      SELECT @sweep, base + row_number() OVER (ORDER BY point),
        base + row_number() OVER (ORDER BY point), point, @seed, 'queued'
      FROM sweep_points, (SELECT max(coalesce(max(entry), 0), coalesce(max(position), 0)) AS base
        FROM sweep_runs WHERE sweep = @sweep)
      WHERE sweep = @sweep
        AND NOT EXISTS (SELECT 1 FROM sweep_runs AS others WHERE others.sweep = @sweep
          AND others.point = sweep_points.point AND others.seed = @seed)`),
    count: database.prepare<[number], { count: number }>(
      'SELECT count(*) AS count FROM sweep_runs WHERE sweep = ?',
    ),
    all: database.prepare<[], SweepRow>('SELECT * FROM sweeps ORDER BY number DESC'),
    byId: database.prepare<[string], SweepRow>('SELECT * FROM sweeps WHERE id = ?'),
    byName: database.prepare<[string], SweepRow>('SELECT * FROM sweeps WHERE name = ?'),
    points: database.prepare<[number], PointRow>(
      'SELECT point, label, texts FROM sweep_points WHERE sweep = ? ORDER BY point',
    ),
    runs: database.prepare<[number], SweepRunRow>(`
      SELECT entry, point, seed, sweep_runs.state AS state, sweep_runs.error AS error,
        runs.id AS run_id, runs.state AS run_state, runs.error AS run_error,
        runs.iterations, runs.iterations_planned, runs.created_at, runs.ended_at,
        runs.created_at AS runs_created
      FROM sweep_runs LEFT JOIN runs ON runs.number = sweep_runs.run
      WHERE sweep_runs.sweep = ? ORDER BY sweep_runs.${QUEUE_ORDER}`),
    next: database.prepare<[string], QueuedRow>(`
      SELECT entry, seed, label, spec FROM sweep_runs
      JOIN sweeps ON sweeps.number = sweep_runs.sweep
      JOIN sweep_points ON sweep_points.sweep = sweep_runs.sweep
        AND sweep_points.point = sweep_runs.point
      WHERE sweeps.id = ? AND is_stopped = 0 AND sweep_runs.state = 'queued'
      ORDER BY position LIMIT 1`),
    live: database.prepare<[string], { run: string }>(`
      SELECT runs.id AS run FROM sweep_runs
      JOIN sweeps ON sweeps.number = sweep_runs.sweep
      JOIN runs ON runs.number = sweep_runs.run
      WHERE sweeps.id = ? AND sweep_runs.state IN ('launched', 'interrupted')
        AND runs.state IN ('starting', 'running') ORDER BY runs.number`),
    drive: database.prepare<[{ number: number; driver: string; now: number }]>(
      'UPDATE sweeps SET driver = @driver, driven_at = @now WHERE number = @number',
    ),
    beat: database.prepare<[{ id: string; driver: string; now: number }]>(
      'UPDATE sweeps SET driven_at = @now WHERE id = @id AND driver = @driver',
    ),
    release: database.prepare<[string, string]>(
      'UPDATE sweeps SET driver = NULL WHERE id = ? AND driver = ?',
    ),
    launched: database.prepare<
      [{ sweep: number; entry: number; run: number; driver: string }]
    >(`
      UPDATE sweep_runs SET state = 'launched', run = @run, error = NULL
      WHERE sweep = @sweep AND entry = @entry AND state = 'queued'
        AND EXISTS (SELECT 1 FROM sweeps
          WHERE number = @sweep AND driver = @driver AND is_stopped = 0)`),
    setSweep: database.prepare<[number, number]>(
      'UPDATE runs SET sweep = ? WHERE number = ?',
    ),
    fail: database.prepare<[string, number, number]>(`
      UPDATE sweep_runs SET state = 'failed', error = ?
      WHERE sweep = ? AND entry = ? AND state = 'queued'`),
    stop: database.prepare<[string | null, number]>(
      'UPDATE sweeps SET is_stopped = 1, error = ? WHERE number = ?',
    ),
    interrupt: database.prepare<[number]>(`
      UPDATE sweep_runs SET state = 'interrupted'
      WHERE sweep = ? AND state = 'launched' AND EXISTS (SELECT 1 FROM runs
        WHERE number = sweep_runs.run AND runs.state IN ('starting', 'running'))`),
    resume: database.prepare<[number]>(
      'UPDATE sweeps SET is_stopped = 0, error = NULL WHERE number = ?',
    ),
    setState: database.prepare<[{ sweep: number; entry: number; state: string }]>(`
      UPDATE sweep_runs SET state = @state, error = NULL,
        run = CASE @state WHEN 'queued' THEN NULL ELSE run END
      WHERE sweep = @sweep AND entry = @entry`),
    putFirst: database.prepare<[number, number]>(`
      UPDATE sweep_runs SET position = (SELECT min(position) - 1 FROM sweep_runs AS others
        WHERE others.sweep = sweep_runs.sweep)
      WHERE sweep = ? AND entry = ?`),
    setAtOnce: database.prepare<[number, number]>(
      'UPDATE sweeps SET at_once = ? WHERE number = ?',
    ),
    version: database.prepare<[], { changed: number; count: number }>(
      'SELECT coalesce(max(changed), 0) AS changed, count(*) AS count FROM sweeps',
    ),
    remove: database.prepare<[number]>('DELETE FROM sweeps WHERE number = ?'),
    touch: database.prepare<[number]>(
      `UPDATE sweeps SET changed = ${NEXT_CHANGE} WHERE number = ?`,
    ),
  };
}
