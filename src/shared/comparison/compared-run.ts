/**
 * A run as a comparison reads it: what it was made of, and what it had cost and reached after so
 * many iterations. It is made of bins of all records (`main/compare`), at most CURVE_BINS, so it
 * is small however long the run was. The page and the command compare the same objects.
 *
 * Time is training time: the sum of the iterations' wall times, each the mean over ranks, and
 * divided by the trainer threads of a rank, which compute iterations at the same time.
 * Evaluations, checkpoints and interruptions are not in it. Bytes are those that a rank sent, the
 * mean over ranks, counted at the sockets.
 */
import type { ExperimentSpec } from '../spec/experiment-spec.ts';
import type { MetricKind } from '../records/metric.ts';
import type { Phase } from '../records/phases.ts';
import type { RunState } from '../records/run-state.ts';

/** Most bins of a run's curve. */
export const CURVE_BINS = 512;

/** Most observations of the test set that are kept of a run. */
export const MOST_OBSERVATIONS = 2048;

/** Columns over a run's bins, equally long. */
export interface RunCurve {
  /** Iterations of a bin; the last one may have fewer. */
  readonly width: number;
  /** Iterations done at the end of each bin, ascending. */
  readonly ends: readonly number[];
  /** Training time until then, in milliseconds. */
  readonly time: readonly number[];
  /** Bytes sent by a rank until then; undefined: nobody counted them. */
  readonly bytes?: readonly number[] | undefined;
  /** The mean over the bin's iterations and ranks; null: not observed. */
  readonly loss: readonly (number | null)[];
  readonly metric: readonly (number | null)[];
}

/** The test set after some iterations. */
export interface Observation {
  /** Iterations done. */
  readonly iterations: number;
  readonly loss?: number | undefined;
  readonly metric?: number | undefined;
}

/** The mean iteration of a run: milliseconds and bytes, over all iterations and ranks. */
export interface MeanStep {
  readonly wall: number;
  readonly phases: Readonly<Partial<Record<Phase, number>>>;
  readonly overlapped: number;
  readonly dense?: number | undefined;
  readonly payload?: number | undefined;
  readonly sent?: number | undefined;
}

export interface ComparedRun {
  readonly id: string;
  readonly name: string;
  readonly state: RunState;
  readonly createdAt: number;
  /** When its ranks began; ms since 1970, like the others. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly nodes: readonly string[];
  /** Iterations finished by every rank. */
  readonly iterations: number;
  readonly spec: ExperimentSpec;
  /** The plan at the start, in words. */
  readonly plan: string;
  readonly backend?: string | undefined;
  /** Switches in their order: `50: none → topk 1 %`. */
  readonly switches: readonly string[];
  readonly metricKind: MetricKind;
  /** Iterations that go over all training samples once. */
  readonly iterationsPerPass?: number | undefined;
  /** Whether a loss or a metric was not finite. */
  readonly isDiverged: boolean;
  readonly interruptions: number;
  /** Machines whose records are not stored. */
  readonly missing: readonly string[];
  readonly curve: RunCurve;
  readonly observations: readonly Observation[];
  /** The run's mean step; undefined before the first iteration. */
  readonly step?: MeanStep | undefined;
}

/** Value of a cumulative column of a curve after a number of iterations: 0 at the start, linear within a bin. */
export function costAfter(
  { ends }: Pick<RunCurve, 'ends'>,
  column: readonly number[],
  iterations: number,
): number | undefined {
  let low = 0;
  let high = ends.length - 1;
  if (high < 0 || iterations > ends[high]!) return undefined;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! < iterations) low = middle + 1;
    else high = middle;
  }
  const from = low === 0 ? 0 : ends[low - 1]!;
  const before = low === 0 ? 0 : column[low - 1]!;
  const part = (iterations - from) / (ends[low]! - from);
  return before + part * (column[low]! - before);
}
