/**
 * The runs of a figure, one after another or several side by side. They end in any order; the figure has them in
 * that of its plan. One that fails ends the others, as a figure is lost with one of its runs.
 */
import type { Figure } from '../../reproduce/figure.ts';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import type { StoredRun } from '../../reproduce/result.ts';
import { makeRun, type MadeRun, type RunWays } from './figure-run.ts';
import type { FigureInterruption } from './figure-interruption.ts';
import { startedAtLast, undisturbedAtLast, wasDisturbed } from './run-attempts.ts';
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
  /** Called for one run at a time. */
  add(run: StoredRun, milliseconds: number): Promise<void>;
}

/** A run of a figure that has been measured. */
export interface FigureProgress {
  readonly planned: PlannedRun;
  readonly stored: StoredRun;
  /** The number of runs that have ended, with this one. */
  readonly index: number;
  readonly milliseconds: number;
  /** Whether it was made before. */
  readonly isKept: boolean;
}

export interface FigureWays {
  readonly interruption: FigureInterruption;
  /** Most runs side by side. */
  readonly atOnce: number;
  /**
   * Whether times on this computer can decide the figure: then a run beside other work is made again, until one
   * stays disturbed and they cannot any more.
   */
  readonly timesCount: boolean;
  /** Says whether to go on. */
  readonly progress: (made: FigureProgress) => boolean;
  /** Runs that were made before, and where others are kept; default: nowhere. */
  readonly kept?: RunsMade | undefined;
}

/**
 * @throws GradwireError what a run failed by, with its spec as the place; `MEASURE_MISSING`;
 * `RUN_STOPPED` if a run was stopped from elsewhere
 */
export async function runFigure(
  workspace: Workspace,
  figure: Figure,
  planned: readonly PlannedRun[],
  { atOnce, interruption, kept, progress, timesCount }: FigureWays,
): Promise<FigureEnd> {
  const runs = new Map<PlannedRun, StoredRun>();
  const halting = new AbortController();
  const halted = halting.signal;
  const ways: RunWays = {
    interruption,
    halted,
    isApart: atOnce === 1 || planned.every(({ spec }) => spec.backend !== 'torch'),
    say: atOnce === 1 ? undefined : stoppingOnce(),
  };
  let repeats = timesCount;
  let end: FigureEnd | undefined;

  const take = async (one: PlannedRun, run: StoredRun, milliseconds: number) => {
    await kept?.add(run, milliseconds);
    // What ends while it is being stopped is kept, and nothing is said of it.
    if (end !== undefined || halted.aborted) return;
    runs.set(one, run);
    const index = runs.size;
    const made = { planned: one, stored: run, index, milliseconds, isKept: false };
    if (progress(made) || index === planned.length) return;
    end = { givenUpAfter: index };
    halting.abort();
  };
  let lastTaken = Promise.resolve();
  const make = async (one: PlannedRun): Promise<void> => {
    const began = performance.now();
    const attempt = (): Promise<MadeRun | { readonly code: number }> =>
      startedAtLast(() => makeRun(workspace, figure, one, ways));
    const made = await (repeats ? undisturbedAtLast(attempt) : attempt());
    if ('code' in made) {
      end ??= made;
      return;
    }
    if ('halted' in made) return;
    if (wasDisturbed(made)) repeats = false;
    const milliseconds = performance.now() - began;
    lastTaken = lastTaken.then(() => take(one, made, milliseconds));
    await lastTaken;
  };
  let next = 0;
  const makeOthers = async (): Promise<void> => {
    while (end === undefined && !halted.aborted && next < planned.length) {
      const one = planned[next++]!;
      const before = kept?.find(one);
      if (before !== undefined) {
        const { milliseconds, run: stored } = before;
        runs.set(one, stored);
        const index = runs.size;
        progress({ planned: one, stored, index, milliseconds, isKept: true });
        continue;
      }
      try {
        await make(one);
      } catch (thrown) {
        // The first reason stays: later ones come of the same trouble, or of the stop.
        halting.abort(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, makeOthers));
  if (end !== undefined) return end;
  halted.throwIfAborted();
  return { runs: planned.map((one) => runs.get(one)!) };
}

/** Says once what Ctrl-C does to runs side by side, each of which would say it for itself. */
function stoppingOnce(): (text: string) => void {
  let isSaid = false;
  return () => {
    if (isSaid) return;
    isSaid = true;
    process.stderr.write(
      'gradwire: stopping the runs in progress; Ctrl-C again does not wait for them\n',
    );
  };
}
