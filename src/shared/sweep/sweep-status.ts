/** Sweeps as lists, pages and commands show them. */
import type { ErrorData } from '../errors/errors.ts';
import type { PointTexts } from './sweep-names.ts';

/**
 * - `queued`: it waits for its turn.
 * - `running`: its run has not ended.
 * - `completed`, `stopped`, `failed`: as its run ended, or it could not be launched.
 * - `dropped`: taken out of the queue.
 * - `purged`: its run was deleted for good.
 */
export const SWEEP_RUN_STATES = [
  'queued',
  'running',
  'completed',
  'stopped',
  'failed',
  'dropped',
  'purged',
] as const;
export type SweepRunState = (typeof SWEEP_RUN_STATES)[number];

/**
 * - `running`: a process works through its queue.
 * - `waiting`: no process does; the app goes on with it when it is open.
 * - `stopped`: until it is resumed.
 * - `finished`: nothing is left in its queue.
 */
export type SweepState = 'running' | 'waiting' | 'stopped' | 'finished';

/** A run of a sweep: one point with one seed. */
export interface SweepRun {
  /** Number in the sweep, from 1; it keeps it whatever becomes of the queue. */
  readonly number: number;
  /** The number of its point. */
  readonly point: number;
  readonly seed: number;
  readonly state: SweepRunState;
  /** The id of its newest run. */
  readonly run?: string | undefined;
  /** Iterations finished by every rank, of those planned. */
  readonly iterations?: number | undefined;
  readonly iterationsPlanned?: number | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** The reason why it failed. */
  readonly error?: ErrorData | undefined;
}

export type SweepCounts = Readonly<Record<SweepRunState, number>>;

export interface SweepSummary {
  readonly id: string;
  readonly name: string;
  readonly state: SweepState;
  readonly createdAt: number;
  /** Most runs at once. */
  readonly atOnce: number;
  /** Number of points. */
  readonly points: number;
  readonly counts: SweepCounts;
  /** The reason why it stopped by itself. */
  readonly error?: ErrorData | undefined;
}

export interface SweepPointStatus {
  readonly number: number;
  readonly label: string;
  readonly values: PointTexts;
}

export interface SweepDetail extends Omit<SweepSummary, 'points'> {
  /** Keys in which points differ. */
  readonly keys: readonly string[];
  readonly points: readonly SweepPointStatus[];
  /** Runs in the order of the queue: first those that have begun, then those that wait. */
  readonly runs: readonly SweepRun[];
}

/** Runs that a sweep is to have: all but those that were dropped. */
export const plannedRuns = (counts: SweepCounts): number =>
  counts.queued + counts.running + endedRuns(counts);

/** Runs that have ended, however. */
export const endedRuns = ({
  completed,
  failed,
  purged,
  stopped,
}: SweepCounts): number => completed + failed + purged + stopped;
