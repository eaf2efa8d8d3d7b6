/** `gradwire reproduce ID…`: repeat figures of the papers at laptop scale, and judge them. */
import type { Command } from 'commander';
import path from 'node:path';
import { inputError, toErrorData } from '../../shared/errors.ts';
import { appVersion } from '../../main/home/installation.ts';
import type { Figure } from '../../main/reproduce/figure.ts';
import { figures, findFigure } from '../../main/reproduce/figures/registry.ts';
import { plannedRuns, type PlannedRun } from '../../main/reproduce/planned-runs.ts';
import { resultOf } from '../../main/reproduce/result.ts';
import { openResultDirectory, writeResult } from '../files/result-files.ts';
import { thisDevice } from '../session/this-device.ts';
import { SweepInterruption } from '../session/sweep-interruption.ts';
import { runSweep } from '../session/sweep.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { reportError } from '../text/report-error.ts';
import {
  humanSweepPrinter,
  jsonSweepPrinter,
  type SweepPrinter,
} from '../text/sweep-printer.ts';
import { addReproduceListCommand } from './reproduce-list.ts';
import { addReproduceTableCommand } from './reproduce-table.ts';

interface ReproduceOptions {
  readonly all: boolean;
  readonly out: string;
  readonly json: boolean;
}

interface Plan {
  readonly figure: Figure;
  readonly runs: readonly PlannedRun[];
}

export function addReproduceCommand(program: Command): void {
  const command = program
    .command('reproduce')
    .summary('repeat figures of the papers at laptop scale')
    .description(
      'Repeat figures and tables of the papers at laptop scale with real rank processes, ' +
        'and write for each a page with the claim, what was measured, and whether the ' +
        'claim’s direction holds here. A refutation is a result: exit code 0.',
    )
    .argument('[figures...]', 'ids, as gradwire reproduce list has them')
    .option('--all', 'all figures', false)
    .option('--out <directory>', 'where pages and their JSON go', 'reproduced')
    .option('--json', 'one JSON object per line', false)
    .action(reproduce);
  addReproduceListCommand(command);
  addReproduceTableCommand(command);
}

async function reproduce(
  ids: readonly string[],
  options: ReproduceOptions,
): Promise<void> {
  // Of all figures, before the first process starts.
  const plans = chosen(ids, options.all).map((figure) => ({
    figure,
    runs: plannedRuns(figure),
  }));
  await openResultDirectory(options.out);
  const write = (text: string): void => {
    process.stdout.write(text);
  };
  const printer = options.json ? jsonSweepPrinter(write) : humanSweepPrinter(write);
  using interruption = new SweepInterruption();
  process.exitCode = await withWorkspace(async (workspace) => {
    let worst = 0;
    for (const plan of plans) {
      const code = await reproduceOne(workspace, plan, options, interruption, printer);
      if (interruption.exitCode !== undefined) return interruption.exitCode;
      worst = Math.max(worst, code);
    }
    return worst;
  });
}

/** @throws GradwireError `FIGURE_UNKNOWN`, `FIGURE_MISSING` */
function chosen(ids: readonly string[], all: boolean): readonly Figure[] {
  const named = [...new Set(ids)].map(findFigure);
  if (all && named.length > 0) {
    throw inputError('USAGE', `--all and ${named[0]!.id}: one of them`, {
      next: 'Leave one out: --all has every figure.',
    });
  }
  if (all) return figures;
  if (named.length > 0) return named;
  throw inputError('FIGURE_MISSING', 'no figure is named', {
    next: `Give one of ${figures.map(({ id }) => id).join(', ')}; or --all.`,
  });
}

/** A figure that fails leaves no files, and the others are still to come. */
async function reproduceOne(
  workspace: Workspace,
  { figure, runs: planned }: Plan,
  { out, json }: ReproduceOptions,
  interruption: SweepInterruption,
  printer: SweepPrinter,
): Promise<number> {
  printer.begin(figure, planned.length);
  const began = performance.now();
  const device = thisDevice();
  try {
    const end = await runSweep(workspace, figure, planned, interruption, (made) => {
      const { stored, index, milliseconds } = made;
      const { run, case: id, seed, values } = stored;
      const { label } = made.planned.case;
      const of = planned.length;
      printer.run(figure, {
        ...{ run, case: id, label, seed, values, index, of, milliseconds },
      });
    });
    if ('code' in end) return end.code;
    const result = resultOf(figure, end.runs, {
      device,
      gradwire: appVersion(),
      measuredAt: Date.now(),
      seconds: (performance.now() - began) / 1000,
    });
    printer.end(result, path.normalize(await writeResult(out, result)));
    return 0;
  } catch (thrown) {
    if (json) {
      const failed = { type: 'failed', figure: figure.id, error: toErrorData(thrown) };
      process.stdout.write(`${JSON.stringify(failed)}\n`);
    }
    return reportError(thrown);
  }
}
