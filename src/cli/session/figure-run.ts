/**
 * One run of a figure, launched and followed as `gradwire run` does it, so that it is on the list like any
 * other. What the figure takes of it is read from the store.
 */
import type { Figure, Measurement } from '../../reproduce/figure.ts';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import type { StoredRun } from '../../reproduce/result.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import { failure, GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { backendText } from '../../shared/records/backend-text.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { hasDiverged } from '../../shared/records/training-diverged.ts';
import { reportError } from '../text/report-error.ts';
import { SILENT } from '../text/run-printer.ts';
import { followRun, type FollowOptions } from './follow-run.ts';
import { watchOtherWork } from './other-work.ts';
import type { FigureInterruption } from './figure-interruption.ts';
import type { Unstarted } from './run-attempts.ts';
import type { Workspace } from './workspace.ts';

export interface RunWays {
  readonly interruption: FigureInterruption;
  /** Aborted to stop the run, as its figure comes to nothing. */
  readonly halted: AbortSignal;
  /** Whether none of PyTorch's processes run meanwhile that are not the run's own. */
  readonly isApart: boolean;
  /** Says what Ctrl-C does; default: a line on stderr. */
  readonly say: ((text: string) => void) | undefined;
}

/** A run that was measured, or that was stopped, or not begun, because its figure comes to nothing. */
export type MadeRun = StoredRun | { readonly halted: true };

/**
 * Makes a run.
 * @returns the run, what interrupted it, or why its ranks did not start
 * @throws GradwireError what it failed by, with its spec as the place; `MEASURE_MISSING`; `RUN_STOPPED`
 */
export async function makeRun(
  workspace: Workspace,
  figure: Figure,
  one: PlannedRun,
  { halted, interruption, isApart, say }: RunWays,
): Promise<MadeRun | { readonly code: number } | Unstarted> {
  if (interruption.exitCode !== undefined) return { code: interruption.exitCode };
  if (halted.aborted) return { halted: true };
  const { coordinator, store } = workspace;
  const place = one.spec.name;
  const otherWork = await watchOtherWork(() => coordinator.machines.supervisor());
  const { id } = await coordinator.launches.create(one.spec);
  if (interruption.exitCode !== undefined || halted.aborted) {
    // It has a row, so record that it must not be started.
    const unstarted = failure('ABORTED', 'the figure was interrupted', { place });
    store.fail(id, unstarted.toData(), Date.now());
    return interruption.exitCode === undefined
      ? { halted: true }
      : { code: interruption.exitCode };
  }
  const stop = (): void => {
    // Its end is waited for in any case.
    coordinator.orders.give(id, { type: 'stop' }).catch(reportError);
  };
  halted.addEventListener('abort', stop, { once: true });
  const code = await followRun(workspace, id, { ...FOLLOWED, say }, async () => {
    await coordinator.launches.begin(id);
  }).finally(() => {
    halted.removeEventListener('abort', stop);
  });
  if (interruption.exitCode !== undefined) return { code: interruption.exitCode };
  const { state, error } = store.summary(id);
  if (halted.aborted && state !== 'completed') return { halted: true };
  if (error?.code === 'RANK_NOT_STARTED') {
    return { unstarted: placed(error, place).toData() };
  }
  const records = recordsOf(store, id, figure);
  const started = records.find((record) => record.type === 'started');
  // PyTorch's processes end with their ranks, and nobody is left to whom their time counts.
  const isKnown = isApart && started?.backend !== 'torch';
  const others = isKnown ? otherWork() : undefined;
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
