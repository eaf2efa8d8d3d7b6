/** `gradwire reproduce ID…`: reproduce figures of the papers at laptop scale and judge them. */
import type { Command } from 'commander';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { GradwireError, inputError } from '../../shared/errors/errors.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { KeptRuns } from '../../main/figures/kept-runs.ts';
import { storedResult } from '../../main/figures/read-results.ts';
import { thisComputer } from '../../main/figures/this-computer.ts';
import { appVersion } from '../../main/home/installation.ts';
import { expandHome, pythonPath } from '../../main/spec/user-path.ts';
import type { Figure } from '../../reproduce/figure.ts';
import { figures as known, findFigure } from '../../reproduce/figures/registry.ts';
import { atFullScale, type Machines } from '../../reproduce/full-scale.ts';
import { plannedRuns } from '../../reproduce/planned-runs.ts';
import { QuickBudget, workOf } from '../../reproduce/quick-budget.ts';
import { setupOf } from '../../reproduce/setup.ts';
import { openResultDirectory, writeResult } from '../files/result-files.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { processorsOf } from '../session/named-machines.ts';
import { FigureInterruption } from '../session/figure-interruption.ts';
import { reproduceFigure, type FigurePlan } from '../session/reproduced-figure.ts';
import { withWorkspace } from '../session/workspace.ts';
import { humanFigurePrinter, jsonFigurePrinter } from '../text/figure-printer.ts';
import { addReproduceJudgeCommand } from './reproduce-judge.ts';
import { addReproduceListCommand } from './reproduce-list.ts';
import { addReproduceTableCommand } from './reproduce-table.ts';

interface ReproduceOptions extends ConnectFlags {
  readonly all: boolean;
  readonly quick: boolean;
  readonly full: boolean;
  readonly nodes?: readonly string[];
  readonly data?: string;
  readonly python?: string;
  readonly out: string;
  readonly resume: boolean;
  readonly json: boolean;
}

export function addReproduceCommand(program: Command): void {
  const command = program
    .command('reproduce')
    .summary('reproduce figures of the papers at laptop scale')
    .description(
      'Reproduce figures and tables of the papers at laptop scale with real rank ' +
        'processes, and write a page for each: the claim, the measurements, and whether ' +
        'the claim’s direction holds here. A refutation is a result: exit code 0.',
    )
    .argument('[figures...]', 'ids from gradwire reproduce list')
    .option('--all', 'all figures', false)
    .option(
      '--quick',
      'half an hour at most, for all figures unless some are named: leave out those that take longer, and say which',
      false,
    )
    .option('--full', 'use the paper’s sizes, on the machines given', false)
    .option(
      '--nodes <names>',
      'with --full: machines, separated by commas',
      commaSeparated,
    )
    .option(
      '--data <directory>',
      'with --full: directory with the data, if a figure needs any',
    )
    .option(
      '--python <path>',
      'a Python with PyTorch, which computes the runs that gain by it; times are taken without it',
    )
    .option('--out <directory>', 'output directory for pages and JSON', 'reproduced')
    .option(
      '--resume',
      'leave figures whose results are there, and take the runs that were made of others',
      false,
    )
    .option('--json', 'one JSON object per line', false)
    .action(reproduce);
  addConnectOptions(command);
  addReproduceJudgeCommand(command);
  addReproduceListCommand(command);
  addReproduceTableCommand(command);
}

async function reproduce(
  ids: readonly string[],
  options: ReproduceOptions,
): Promise<void> {
  const given = fullScaleOptions(options);
  const python = options.python && pythonPath(options.python, process.cwd());
  const quick = quickBudget(options);
  const all = options.all || (quick !== undefined && ids.length === 0);
  const figures = chosen(ids, all, given !== undefined);
  // Of all figures, before the first process starts.
  const plans = plansOf(figures, given, python);
  const order =
    quick === undefined
      ? plans
      : plans.toSorted((a, b) => workOf(a.runs) - workOf(b.runs));
  await openResultDirectory(options.out);
  const print = (text: string): void => {
    process.stdout.write(text);
  };
  const printer = options.json ? jsonFigurePrinter(print) : humanFigurePrinter(print);
  using interruption = new FigureInterruption();
  process.exitCode = await withWorkspace(async (workspace) => {
    if (given !== undefined) {
      const processors = await processorsOf(workspace, given.nodes);
      plansOf(figures, { ...given, processors }, python);
    }
    let worst = 0;
    for (const plan of withSecondRound(order, quick)) {
      if (options.resume && (await isDone(options.out, plan))) continue;
      const code = await reproduceFigure(workspace, plan, {
        interruption,
        printer,
        quick,
        json: options.json,
        write: (result) => writeResult(options.out, result),
        keep: ({ figure, runs: planned }, device) =>
          KeptRuns.open(options.out, figure.id, {
            planned,
            device,
            resume: options.resume,
          }),
      });
      if (interruption.exitCode !== undefined) return interruption.exitCode;
      worst = Math.max(worst, code);
    }
    if (quick !== undefined) printer.leftOut(quick.leftOut);
    return worst;
  }, connectOptions(options));
}

/** All figures in order, then those that were left out and still fit. */
function* withSecondRound(
  order: readonly FigurePlan[],
  quick: QuickBudget | undefined,
): Iterable<FigurePlan> {
  yield* order;
  for (;;) {
    const again = quick?.takeBack();
    if (again === undefined) return;
    yield order.find(({ figure }) => figure.id === again)!;
  }
}

/**
 * Whether the directory has the result of the same runs, of this version, and none was begun after it.
 * @throws GradwireError `RESULT_TOO_NEW`
 */
async function isDone(
  directory: string,
  { figure, full, python, runs }: FigurePlan,
): Promise<boolean> {
  const result = await storedResult(directory, figure.id).catch((error: unknown) => {
    // One that cannot be read is made again, but for what a newer version has made.
    if (error instanceof GradwireError && error.code === 'RESULT_TOO_NEW') throw error;
    return undefined;
  });
  if (result?.gradwire !== appVersion()) return false;
  const kept = { planned: runs, device: thisComputer() };
  if ((await KeptRuns.count(directory, figure.id, kept)) > 0) return false;
  const made = result.runs.map((one) => [one.case, one.seed]);
  const planned = runs.map((one) => [one.case.id, one.seed]);
  return isDeepStrictEqual(
    [result.full, result.python, result.setup, made],
    [full, python, setupOf(figure), planned],
  );
}

/** @throws GradwireError `USAGE` */
function quickBudget({
  full,
  quick,
  resume,
}: ReproduceOptions): QuickBudget | undefined {
  if (quick && resume) {
    throw inputError('USAGE', '--resume is of no use with --quick', {
      next: 'Remove one: --quick makes what fits into half an hour.',
    });
  }
  if (full && quick) {
    throw inputError('USAGE', '--quick is of no use with --full', {
      next: 'Remove one: the paper’s sizes take hours.',
    });
  }
  return quick ? new QuickBudget() : undefined;
}

/**
 * The machines of --full; undefined at laptop scale.
 * @throws GradwireError `USAGE`
 */
function fullScaleOptions({
  full,
  nodes,
  data,
}: ReproduceOptions): Machines | undefined {
  const idle = nodes === undefined ? data && '--data' : '--nodes';
  if (!full && idle !== undefined) {
    throw inputError('USAGE', `${idle} only works with --full`, {
      next: `Add --full, or remove ${idle}.`,
    });
  }
  if (!full) return undefined;
  if (nodes === undefined || nodes.length === 0) {
    throw inputError('USAGE', '--full needs machines', {
      next: `Name them: --nodes ${LOCAL_NODE},NAME; gradwire nodes list shows yours.`,
    });
  }
  const directory = data === undefined ? undefined : path.resolve(expandHome(data));
  return { nodes, processors: undefined, data: directory };
}

/** @throws GradwireError as `atFullScale` */
const plansOf = (
  figures: readonly Figure[],
  given: Machines | undefined,
  python: string | undefined,
): readonly FigurePlan[] =>
  figures.map((one) => {
    const figure = given === undefined ? one : atFullScale(one, given, known);
    const { data, nodes = [] } = given ?? {};
    return {
      figure,
      runs: plannedRuns(figure, python),
      python,
      full:
        given === undefined
          ? undefined
          : {
              of: one.id,
              nodes,
              ...(one.full?.data === undefined || data === undefined ? {} : { data }),
            },
    };
  });

/** Each name once. */
const commaSeparated = (list: string): readonly string[] => [
  ...new Set(
    list
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  ),
];

/** @throws GradwireError `FIGURE_UNKNOWN`, `FIGURE_MISSING` */
function chosen(
  ids: readonly string[],
  all: boolean,
  full: boolean,
): readonly Figure[] {
  const named = [...new Set(ids)].map(findFigure);
  if (all && named.length > 0) {
    throw inputError('USAGE', `--all cannot be combined with ${named[0]!.id}`, {
      next: 'Remove one: --all includes every figure.',
    });
  }
  if (all) return full ? known.filter((figure) => figure.full !== undefined) : known;
  if (named.length > 0) return named;
  throw inputError('FIGURE_MISSING', 'no figure is named', {
    next: `Give one of ${known.map(({ id }) => id).join(', ')}, or --all.`,
  });
}
