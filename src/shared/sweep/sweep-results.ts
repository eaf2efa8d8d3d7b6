/**
 * The results of a sweep, one for each point: how good its runs ended, over seeds, and what a
 * target cost. They are made of the comparison of its runs, which the page and the command show
 * beside them.
 */
import type { Comparison, GroupResult } from '../comparison/comparison.ts';
import { meanInterval, type MeanInterval } from '../comparison/mean-interval.ts';
import type { SweepDetail, SweepPointStatus, SweepRun } from './sweep-status.ts';

export interface PointResult extends SweepPointStatus {
  /** Ids of the runs that are compared. */
  readonly runs: readonly string[];
  /** Runs that it is to have, and those of them that have completed. */
  readonly planned: number;
  readonly completed: number;
  /** The quantity at the ends of its completed runs. */
  readonly final?: MeanInterval | undefined;
  /** The group of the comparison that it is in. */
  readonly group?: GroupResult | undefined;
  /** The place of that group, for its colour. */
  readonly groupIndex?: number | undefined;
}

/** Ids of the runs that have something to compare, in the order of their points. */
export const comparableRuns = ({
  runs,
}: Pick<SweepDetail, 'runs'>): readonly string[] =>
  runs
    .filter((run) => isComparable(run))
    .toSorted((a, b) => a.point - b.point || a.seed - b.seed)
    .map(({ run }) => run!);

const isComparable = ({ iterations, run, state }: SweepRun): boolean =>
  run !== undefined &&
  (iterations ?? 0) > 0 &&
  (state === 'completed' || state === 'failed' || state === 'running');

/** @param comparison of its comparable runs, in its newest state; undefined: there are none */
export function sweepResults(
  { points, runs }: Pick<SweepDetail, 'points' | 'runs'>,
  comparison: Comparison | undefined,
): readonly PointResult[] {
  const results = new Map(comparison?.runs.map((result) => [result.id, result]));
  return points.map((point) => {
    const own = runs.filter(
      (run) => run.point === point.number && run.state !== 'dropped',
    );
    const compared = own.flatMap(({ run }) =>
      run !== undefined && results.has(run) ? [results.get(run)!] : [],
    );
    const ends = own.flatMap(({ run, state }) => {
      const last =
        state === 'completed' ? results.get(run ?? '')?.points.at(-1) : undefined;
      return last === undefined ? [] : [last.value];
    });
    const groupIndex = compared[0]?.group;
    return {
      ...point,
      runs: compared.map(({ id }) => id),
      planned: own.length,
      completed: own.filter(({ state }) => state === 'completed').length,
      final: meanInterval(ends),
      group: groupIndex === undefined ? undefined : comparison!.groups[groupIndex],
      groupIndex,
    };
  });
}
