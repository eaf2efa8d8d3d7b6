/** The results of a sweep for a command: read from the store, compared, and as text. */
import { readComparedRun } from '../../main/compare/read-run.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import { compareRuns, type Comparison } from '../../shared/comparison/comparison.ts';
import type { CostId } from '../../shared/comparison/target.ts';
import {
  comparableRuns,
  sweepResults,
  type PointResult,
} from '../../shared/sweep/sweep-results.ts';
import type { SweepDetail } from '../../shared/sweep/sweep-status.ts';
import { resultTable } from '../text/sweep-tables.ts';

export interface SweepOutput {
  readonly detail: SweepDetail;
  readonly comparison: Comparison | undefined;
  readonly results: readonly PointResult[];
}

export interface ResultChoice {
  readonly target?: number | undefined;
  readonly by?: CostId | undefined;
}

export function readSweep(
  store: RunStore,
  id: string,
  choice: ResultChoice = {},
): SweepOutput {
  const detail = store.sweeps.detail(id);
  const runs = comparableRuns(detail).map((run) => readComparedRun(store, run));
  const comparison = runs.length === 0 ? undefined : compareRuns(runs, choice);
  return { detail, comparison, results: sweepResults(detail, comparison) };
}

/** The verdict and a row per point; nothing before the first run has begun. */
export function resultsText(
  { comparison, detail, results }: SweepOutput,
  width: number | undefined,
): string {
  if (comparison === undefined) return '';
  const notes = comparison.caveats.map((caveat) => `Note: ${caveat}\n`).join('');
  const table = resultTable(detail.keys, results, comparison, width);
  return `${comparison.verdict.text}\n${notes}\n${table}\n`;
}
