/** `gradwire compare`: runs held against each other, by what it costs to reach a target. */
import { writeFileSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { readComparedRun } from '../../main/compare/read-run.ts';
import {
  COMPARISON_TABLES,
  comparisonCsv,
  type ComparisonTable,
} from '../../shared/comparison/comparison-csv.ts';
import { comparisonJson } from '../../shared/comparison/comparison-file.ts';
import { compareRuns, type Comparison } from '../../shared/comparison/comparison.ts';
import { QUANTITY_IDS, type QuantityId } from '../../shared/comparison/quantity.ts';
import { readTarget } from '../../shared/comparison/read-target.ts';
import { COST_IDS, type CostId } from '../../shared/comparison/target.ts';
import { writeAdvice } from '../../shared/errors/write-advice.ts';
import { failure, inputError } from '../../shared/errors/errors.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { comparisonText } from '../text/comparison-text.ts';

interface CompareOptions {
  readonly of?: QuantityId;
  readonly target?: string;
  readonly by: CostId;
  readonly baseline?: string;
  readonly json: boolean;
  readonly csv?: ComparisonTable;
  readonly output?: string;
}

export function addCompareCommand(program: Command): void {
  program
    .command('compare')
    .description(
      'compare runs: what differs, what it costs each to reach a target, and which is faster',
    )
    .argument('<runs...>', 'their ids or the starts of them, or last')
    .addOption(
      new Option(
        '--of <quantity>',
        'quantity of the target, on the test set or the training batches; default: the first that all runs have',
      ).choices(QUANTITY_IDS),
    )
    .option(
      '--target <value>',
      'value to reach, such as 0.9 or 90%; default: 95 % of the way to the best',
    )
    .addOption(
      new Option('--by <cost>', 'cost by which runs are compared')
        .choices(COST_IDS)
        .default('time'),
    )
    .option(
      '--baseline <run>',
      'run whose configuration the others are compared with; default: the one without compression, else the first',
    )
    .addOption(
      new Option('--json', 'print one line of JSON').default(false).conflicts('csv'),
    )
    .addOption(
      new Option(
        '--csv <table>',
        'print CSV: results, a row per run, or curves, a row per point',
      ).choices(COMPARISON_TABLES),
    )
    .option('--output <file>', 'output file; default: stdout')
    .action(async (names: readonly string[], options: CompareOptions) => {
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const ids = [...new Set(names.map((name) => resolveRun(store, name)))];
        const runs = ids.map((id) => readComparedRun(store, id));
        const { baseline, by, of: quantity, target } = options;
        const comparison = compareRuns(runs, {
          quantity,
          target: target === undefined ? undefined : readTarget(target),
          by,
          baseline: baseline && chosen(resolveRun(store, baseline), ids),
        });
        requireQuantity(comparison, quantity);
        write(textOf(comparison, options), options.output);
      });
    });
}

function textOf(comparison: Comparison, { csv, json }: CompareOptions): string {
  if (json) return comparisonJson(comparison);
  if (csv !== undefined) return comparisonCsv(comparison, csv);
  return `${comparisonText(comparison)}\n`;
}

function chosen(baseline: string, ids: readonly string[]): string {
  if (ids.includes(baseline)) return baseline;
  throw inputError('BASELINE_NOT_COMPARED', `run ${baseline} is not compared`, {
    place: '--baseline',
    next: `Give one of the runs: ${ids.slice(0, 5).join(', ')}.`,
  });
}

function requireQuantity(
  { quantities, quantity }: Comparison,
  asked: QuantityId | undefined,
): void {
  if (asked === undefined || quantity !== undefined) return;
  const known = quantities.map(({ id }) => id).join(', ');
  throw inputError('QUANTITY_NOT_OBSERVED', `no run has a ${asked}, or not the same`, {
    place: '--of',
    next: known === '' ? 'Wait for the first evaluation.' : `Choose one of: ${known}.`,
  });
}

function write(text: string, file: string | undefined): void {
  if (file === undefined) {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(file, text);
  } catch (thrown) {
    const { message } = thrown as NodeJS.ErrnoException;
    throw failure('EXPORT_WRITE_FAILED', `cannot write the comparison: ${message}`, {
      next: writeAdvice(
        thrown,
        'Free space on that disk, or give another file with --output.',
      ),
    });
  }
}
