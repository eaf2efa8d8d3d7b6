/** Rows of sweeps, and what lists and pages are told of them. */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { PointTexts } from '../../shared/sweep/sweep-names.ts';
import {
  SWEEP_RUN_STATES,
  type SweepCounts,
  type SweepDetail,
  type SweepRun,
  type SweepRunState,
  type SweepState,
  type SweepSummary,
} from '../../shared/sweep/sweep-status.ts';
import { lifeOf } from '../home/process-name.ts';
import { hasEnded, type RunState } from '../../shared/records/run-state.ts';
import { jsonOrNothing } from './stored-json.ts';

export interface SweepRow {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  /** string[] as JSON. */
  readonly keys: string;
  readonly at_once: number;
  readonly is_stopped: number;
  /** ErrorData as JSON. */
  readonly error: string | null;
  /** The process that works through the queue. */
  readonly driver: string | null;
  /** The time at which the driver last said that it goes on. */
  readonly driven_at: number | null;
  readonly created_at: number;
}

/** A run of a sweep beside the row of its newest run. */
export interface SweepRunRow {
  readonly entry: number;
  readonly point: number;
  readonly seed: number;
  readonly state: 'queued' | 'launched' | 'interrupted' | 'failed' | 'dropped';
  readonly error: string | null;
  readonly run_id: string | null;
  readonly run_state: RunState | null;
  readonly run_error: string | null;
  readonly iterations: number | null;
  readonly iterations_planned: number | null;
  readonly created_at: number | null;
  readonly ended_at: number | null;
}

export interface PointRow {
  readonly point: number;
  readonly label: string;
  readonly texts: string;
}

/**
 * Time after which a process that has said nothing does not drive a sweep any more, even if it
 * cannot be seen from here.
 */
const SILENT_MS = 60_000;

/** Whether another process drives the sweep. */
export const isDriven = (
  { driven_at, driver }: Pick<SweepRow, 'driven_at' | 'driver'>,
  now: number,
): boolean =>
  driver !== null && now - (driven_at ?? 0) < SILENT_MS && lifeOf(driver) !== 'dead';

export function runStateOf({ run_state, state, ...row }: SweepRunRow): SweepRunState {
  if (state === 'queued' || state === 'dropped' || state === 'failed') return state;
  if (run_state === null) return 'purged';
  if (!hasEnded(run_state)) return 'running';
  const isStopped = errorOf(row.run_error)?.code === 'RUN_STOPPED';
  if (run_state === 'completed') return 'completed';
  return state === 'interrupted' || run_state === 'stopped' || isStopped
    ? 'stopped'
    : 'failed';
}

/** Whether the run is to be run yet, now or once the sweep goes on. */
const isUnfinished = (row: SweepRunRow): boolean => {
  const state = runStateOf(row);
  return (
    state === 'queued' ||
    state === 'running' ||
    (row.state === 'interrupted' && state !== 'completed')
  );
};

function stateOf(row: SweepRow, runs: readonly SweepRunRow[], now: number): SweepState {
  if (!runs.some(isUnfinished)) return 'finished';
  if (row.is_stopped !== 0) return 'stopped';
  return isDriven(row, now) ? 'running' : 'waiting';
}

export function sweepSummary(
  row: SweepRow,
  runs: readonly SweepRunRow[],
  now: number,
): SweepSummary {
  const error = errorOf(row.error);
  return {
    id: row.id,
    name: row.name,
    state: stateOf(row, runs, now),
    createdAt: row.created_at,
    atOnce: row.at_once,
    points: new Set(runs.map(({ point }) => point)).size,
    counts: countsOf(runs),
    ...(error === undefined ? {} : { error }),
  };
}

export function sweepDetail(
  row: SweepRow,
  points: readonly PointRow[],
  runs: readonly SweepRunRow[],
  now: number,
): SweepDetail {
  return {
    ...sweepSummary(row, runs, now),
    keys: (jsonOrNothing(row.keys) as readonly string[] | undefined) ?? [],
    points: points.map(({ label, point, texts }) => ({
      number: point,
      label,
      values: (jsonOrNothing(texts) as PointTexts | undefined) ?? {},
    })),
    runs: runs.map(sweepRunOf),
  };
}

function sweepRunOf(row: SweepRunRow): SweepRun {
  const state = runStateOf(row);
  const error = errorOf(row.error ?? (state === 'failed' ? row.run_error : null));
  return {
    number: row.entry,
    point: row.point,
    seed: row.seed,
    state,
    run: row.run_id ?? undefined,
    iterations: row.iterations ?? undefined,
    iterationsPlanned: row.iterations_planned ?? undefined,
    startedAt: row.created_at ?? undefined,
    endedAt: row.ended_at ?? undefined,
    ...(error === undefined ? {} : { error }),
  };
}

function countsOf(runs: readonly SweepRunRow[]): SweepCounts {
  const counts = Object.fromEntries(
    SWEEP_RUN_STATES.map((state) => [state, 0]),
  ) as Record<SweepRunState, number>;
  for (const row of runs) counts[runStateOf(row)]++;
  return counts;
}

const errorOf = (text: string | null): ErrorData | undefined =>
  text === null ? undefined : (jsonOrNothing(text) as ErrorData | undefined);
