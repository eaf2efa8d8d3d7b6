/** The progress of the runs together, for the app’s icon in the dock or the taskbar. */
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { isOpenEnded } from '../../shared/spec/program-spec.ts';
import type { AppListener } from '../app/event-outbox.ts';

/** Electron's values: a share from 0 to 1, above 1 a bar without an end, below 0 none. */
const NONE = -1;
const ENDLESS = 2;

/**
 * @param show takes what `BrowserWindow.setProgressBar` takes, whenever it changes
 * @returns a listener to the core's events
 */
export function showProgress(show: (progress: number) => void): AppListener {
  const runs = new Map<string, RunSummary>();
  let shown = NONE;
  return (event, ...args) => {
    if (event !== 'runChanged') return;
    const run = args[0] as RunSummary;
    // One that waits for a scheduler may do so for days.
    if (hasEnded(run.state) || run.queue !== undefined) runs.delete(run.id);
    else runs.set(run.id, run);
    const progress = progressOf([...runs.values()]);
    if (progress === shown) return;
    shown = progress;
    show(progress);
  };
}

/** The share of the iterations of all runs, in whole per cent. */
function progressOf(runs: readonly RunSummary[]): number {
  const ending = runs.filter(
    ({ iterationsPlanned }) => !isOpenEnded(iterationsPlanned),
  );
  if (runs.length === 0) return NONE;
  if (ending.length === 0) return ENDLESS;
  const done = sum(ending, ({ iterations }) => iterations);
  const planned = sum(ending, ({ iterationsPlanned }) => iterationsPlanned);
  return Math.floor((100 * done) / planned) / 100;
}

const sum = (runs: readonly RunSummary[], of: (run: RunSummary) => number): number =>
  runs.reduce((total, run) => total + of(run), 0);
