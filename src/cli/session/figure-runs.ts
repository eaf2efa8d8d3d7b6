/**
 * The runs of a figure, one after another, launched and followed as `gradwire run` does it,
 * so that they are on the list like any other. What a figure takes of a run is read from
 * the store.
 */
import type { Figure, Measurement } from '../../reproduce/figure.ts';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import type { StoredRun } from '../../reproduce/result.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { backendText } from '../../shared/records/backend-text.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { hasDiverged } from '../../shared/records/training-diverged.ts';
import { SILENT } from '../text/run-printer.ts';
import { followRun, type FollowOptions } from './follow-run.ts';
import { watchOtherWork } from './other-work.ts';
import {
  startedAtLast,
  undisturbedAtLast,
  wasDisturbed,
  type Unstarted,
} from './run-attempts.ts';
import type { FigureInterruption } from './figure-interruption.ts';
import type { Workspace } from './workspace.ts';

/** The runs; the exit code of what interrupted them; or how many were made before they were given up. */
export type FigureEnd =
  | { readonly runs: readonly StoredRun[] }
  | { readonly code: number }
  | { readonly givenUpAfter: number };

/** Runs of a figure that were made before, and the place where those are kept that are made now. */
export interface RunsMade {
  find(
    planned: PlannedRun,
  ): { readonly run: StoredRun; readonly milliseconds: number } | undefined;
  add(run: StoredRun, milliseconds: number): Promise<void>;
}

/** A run of a figure that has been measured. */
export interface FigureProgress {
  readonly planned: PlannedRun;
  readonly stored: StoredRun;
  /** The run's number, from 1. */
  readonly index: number;
  readonly milliseconds: number;
  /** Whether it was made before. */
  readonly isKept: boolean;
}

/**
 * @param timesCount whether times on this computer can decide the figure: then a run beside other
 * work is made again, until one stays disturbed and they cannot any more
 * @param progress says whether to go on
 * @param kept those that were made before, and where others are kept; default: nowhere
 * @throws GradwireError what a run failed by, with its spec as the place; `MEASURE_MISSING`;
 * `RUN_STOPPED` if a run was stopped from elsewhere
 */
export async function runFigure(
  workspace: Workspace,
  figure: Figure,
  planned: readonly PlannedRun[],
  interruption: FigureInterruption,
  timesCount: boolean,
  progress: (made: FigureProgress) => boolean,
  kept?: RunsMade,
): Promise<FigureEnd> {
  const runs: StoredRun[] = [];
  let repeats = timesCount;
  for (const one of planned) {
    const before = kept?.find(one);
    if (before !== undefined) {
      const { milliseconds, run: stored } = before;
      runs.push(stored);
      progress({
        planned: one,
        stored,
        index: runs.length,
        milliseconds,
        isKept: true,
      });
      continue;
    }
    const began = performance.now();
    const attempt = (): Promise<StoredRun | { readonly code: number }> =>
      startedAtLast(() => runOnce(workspace, figure, one, interruption));
    const end = await (repeats ? undisturbedAtLast(attempt) : attempt());
    if ('code' in end) return end;
    if (wasDisturbed(end)) repeats = false;
    runs.push(end);
    const milliseconds = performance.now() - began;
    await kept?.add(end, milliseconds);
    const index = runs.length;
    const made = { planned: one, stored: end, index, milliseconds, isKept: false };
    if (!progress(made) && runs.length < planned.length) {
      return { givenUpAfter: runs.length };
    }
  }
  return { runs };
}

/** The run, what interrupted it, or why its ranks did not start. */
async function runOnce(
  workspace: Workspace,
  figure: Figure,
  one: PlannedRun,
  interruption: FigureInterruption,
): Promise<StoredRun | { readonly code: number } | Unstarted> {
  if (interruption.exitCode !== undefined) return { code: interruption.exitCode };
  const { coordinator, store } = workspace;
  const place = one.spec.name;
  const otherWork = await watchOtherWork(() => coordinator.machines.supervisor());
  const { id } = await coordinator.launches.create(one.spec);
  if (interruption.exitCode !== undefined) {
    // It has a row, so record that it must not be started.
    const unstarted = failure('ABORTED', 'the figure was interrupted', { place });
    store.fail(id, unstarted.toData(), Date.now());
    return { code: interruption.exitCode };
  }
  const code = await followRun(workspace, id, FOLLOWED, async () => {
    await coordinator.launches.begin(id);
  });
  if (interruption.exitCode !== undefined) return { code: interruption.exitCode };
  const { state, error } = store.summary(id);
  if (error?.code === 'RANK_NOT_STARTED') {
    return { unstarted: placed(error, place).toData() };
  }
  const records = recordsOf(store, id, figure);
  const started = records.find((record) => record.type === 'started');
  // PyTorch's processes end with their ranks, and nobody is left to whom their time counts.
  const others = started?.backend === 'torch' ? undefined : otherWork();
  const run = {
    run: id,
    case: one.case.id,
    seed: one.seed,
    ...(others === undefined ? {} : { others }),
    ...(started === undefined ? {} : { backend: backendText(started) }),
  };
  const guessed =
    figure.guess !== undefined && hasDiverged(error, records)
      ? ({ ...run, values: figure.guess(one.case.id), diverged: true } as const)
      : undefined;
  if (error !== undefined) {
    if (guessed !== undefined) return guessed;
    throw placed(error, place);
  }
  if (code !== 0 || state !== 'completed') {
    throw failure('RUN_STOPPED', `run ${id} was stopped before its end`, {
      place,
      next: 'Reproduce the figure again.',
    });
  }
  try {
    return { ...run, ...measured(figure, records, place) };
  } catch (thrown) {
    // What is no number at the end is not recorded.
    if (guessed !== undefined && isMissing(thrown)) return guessed;
    throw thrown;
  }
}

/** The figure has its own lines, one for each run, and its own error. */
const FOLLOWED: FollowOptions = {
  json: false,
  mode: 'run',
  printer: () => SILENT,
  report: () => 1,
};

/** @throws GradwireError `MEASURE_MISSING`, with the place */
function measured(
  figure: Figure,
  records: readonly RunRecord[],
  place: string,
): Measurement {
  try {
    return figure.measure(records);
  } catch (thrown) {
    throw thrown instanceof GradwireError ? placed(thrown.toData(), place) : thrown;
  }
}

const isMissing = (thrown: unknown): boolean =>
  thrown instanceof GradwireError && thrown.code === 'MEASURE_MISSING';

const placed = (error: ErrorData, place: string): GradwireError =>
  new GradwireError({
    ...error,
    place: error.place === undefined ? place : `${place}; ${error.place}`,
  });

/** Kinds of records that tell of any run what computed it, and whether it diverged. */
const ALWAYS: ReadonlySet<RunRecord['type']> = new Set(['started', 'notice']);

function recordsOf(store: RunStore, id: string, figure: Figure): readonly RunRecord[] {
  const records: RunRecord[] = [];
  let after = 0;
  for (;;) {
    const page = store.reads.entriesAfter(id, after);
    if (page.length === 0) return records;
    after = page.at(-1)!.sequence;
    for (const { record } of page) {
      if (ALWAYS.has(record.type) || figure.keeps?.(record) !== false)
        records.push(record);
    }
  }
}
