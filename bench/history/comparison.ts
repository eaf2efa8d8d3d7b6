/**
 * The cost of a comparison of twelve runs of that size, from the history and without the page:
 * the same run is read twelve times, as each run is read by itself.
 */
import { readComparedRun } from '../../src/main/compare/read-run.ts';
import { RunStore } from '../../src/main/store/run-store.ts';
import { compareRuns } from '../../src/shared/comparison/comparison.ts';
import type { Measurement } from '../report.ts';

const RUNS = 12;
/** Less than a page may take to open, in milliseconds. */
const GOAL_MS = 1000;

export function measureComparison(
  database: string,
  run: string,
  name: string,
): readonly Measurement[] {
  const store = RunStore.open(database);
  try {
    const start = performance.now();
    const runs = Array.from({ length: RUNS }, (_, index) => ({
      ...readComparedRun(store, run),
      id: `${run}${index}`,
    }));
    const read = performance.now();
    compareRuns(runs);
    const end = performance.now();
    return [
      {
        name: `${name}: to compare ${RUNS} of them`,
        value: end - start,
        unit: 'ms',
        goal: GOAL_MS,
        note: `${(read - start).toFixed(0)} ms to read ${runs[0]!.curve.ends.length} bins of each, the rest to compare`,
      },
    ];
  } finally {
    store.close();
  }
}
