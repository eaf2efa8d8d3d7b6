/** A figure of a paper from its first run to its files. */
import path from 'node:path';
import { thisComputer } from '../../main/figures/this-computer.ts';
import { appVersion } from '../../main/home/installation.ts';
import type { Figure } from '../../reproduce/figure.ts';
import type { PlannedRun } from '../../reproduce/planned-runs.ts';
import { projected, type QuickBudget } from '../../reproduce/quick-budget.ts';
import { resultOf, type Result } from '../../reproduce/result.ts';
import { runsAtOnce } from '../../reproduce/side-by-side.ts';
import { toErrorData } from '../../shared/errors/errors.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { formatElapsed } from '../../shared/words/units.ts';
import type { FigurePrinter } from '../text/figure-printer.ts';
import { reportError } from '../text/report-error.ts';
import type { FigureInterruption } from './figure-interruption.ts';
import { runFigure, type FigureProgress, type RunsMade } from './figure-runs.ts';
import type { Workspace } from './workspace.ts';

export interface FigurePlan {
  readonly figure: Figure;
  readonly runs: readonly PlannedRun[];
  readonly full: Result['full'];
  /** The Python whose PyTorch computes the runs that gain by it. */
  readonly python: string | undefined;
}

interface Ways {
  readonly interruption: FigureInterruption;
  readonly printer: FigurePrinter;
  /** Whether a failure is a line of JSON, too. */
  readonly json: boolean;
  /** Writes the result; returns the path of its page. */
  readonly write: (result: Result) => Promise<string>;
  /** Opens the place where the runs are kept until the result is written. */
  readonly keep: (
    plan: FigurePlan,
    device: Result['device'],
  ) => Promise<RunsMade & { remove(): Promise<void> }>;
  /** The time that is left, if there is a limit. */
  readonly quick: QuickBudget | undefined;
  /** Makes the runs; default: real ones. */
  readonly make?: typeof runFigure;
}

/**
 * Makes the runs of a figure, judges them and writes the result. A figure that fails or is interrupted leaves
 * the runs that were made, and others may follow; one that takes too long leaves no file.
 * @returns the exit code
 */
export async function reproduceFigure(
  workspace: Workspace,
  plan: FigurePlan,
  { interruption, json, keep, make = runFigure, printer, quick, write }: Ways,
): Promise<number> {
  const { figure, full, python, runs: planned } = plan;
  const device = thisComputer();
  const ranks = Math.max(...planned.map(({ spec }) => spec.world.ranks));
  const isTimed = figure.timed === true && full === undefined;
  if (quick !== undefined && isTimed && ranks > device.cores) {
    const why = `times decide it, which ${ranks} ranks on ${device.cores} processors do not give`;
    quick.leaveOut({ figure: figure.id, why });
    return 0;
  }
  if (quick?.begins(figure.id, planned) === false) return 0;
  printer.begin(figure, planned.length);
  const began = performance.now();
  // Of named machines it is not known what their processors can take.
  const capacity = { processors: device.cores, memory: process.availableMemory() };
  const atOnce = full === undefined ? runsAtOnce(figure, planned, capacity) : 1;
  let earlier = 0;
  try {
    // Times that belong together are taken together.
    const kept = figure.timed ? undefined : await keep(plan, device);
    const timesCount =
      figure.timed === true &&
      (full === undefined ? ranks <= device.cores : full.nodes.includes(LOCAL_NODE));
    const share = quick?.share ?? Infinity;
    // Those that began together are about to end when the first of them has.
    const wholeAfter = (made: number): number =>
      projected(performance.now() - began, Math.max(made, atOnce), planned.length);
    const take = (made: FigureProgress): boolean => {
      const { stored, index, isKept, milliseconds } = made;
      // It was made beside others.
      if (isKept) earlier += milliseconds / atOnce;
      if (index === 1 && !isKept) quick?.tookFirst(made.planned, milliseconds);
      const { run, case: id, diverged, seed, values } = stored;
      const { label } = made.planned.case;
      const of = planned.length;
      printer.run(figure, {
        run,
        case: id,
        label,
        seed,
        values,
        ...(diverged && { diverged }),
        ...(isKept && { kept: true }),
        index,
        of,
        milliseconds,
      });
      return wholeAfter(index) <= share;
    };
    const end = await make(workspace, figure, planned, {
      atOnce,
      interruption,
      kept,
      progress: take,
      timesCount,
    });
    if ('code' in end) return end.code;
    const milliseconds = performance.now() - began;
    if ('givenUpAfter' in end) {
      const made = end.givenUpAfter;
      const whole = wholeAfter(made);
      const why =
        `${made} of ${planned.length} runs took ${formatElapsed(milliseconds)}, ` +
        `so all would take some ${Math.ceil(whole / 60_000)} minutes`;
      const left = { figure: figure.id, why };
      quick!.leaveOut(left, whole);
      printer.givenUp(left);
      await kept?.remove();
      return 0;
    }
    const result = resultOf(figure, end.runs, {
      device,
      ...(full === undefined ? {} : { full }),
      ...(python === undefined ? {} : { python }),
      gradwire: appVersion(),
      measuredAt: Date.now(),
      seconds: (milliseconds + earlier) / 1000,
    });
    printer.end(result, path.normalize(await write(result)));
    await kept?.remove();
    return 0;
  } catch (thrown) {
    if (json) {
      const failed = { type: 'failed', figure: figure.id, error: toErrorData(thrown) };
      process.stdout.write(`${JSON.stringify(failed)}\n`);
    }
    return reportError(thrown);
  } finally {
    quick?.spend(performance.now() - began);
  }
}
