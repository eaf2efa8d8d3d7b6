/** `gradwire compare`: runs held against each other, by what it costs to reach a target. */
import { Option, type Command } from 'commander';
import { comparisonReport } from '../../export/report/comparison-report.ts';
import { reportHtml } from '../../export/report/document.ts';
import { madeBy } from '../../export/report/made-by.ts';
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
import { inputError } from '../../shared/errors/errors.ts';
import { appVersion } from '../../main/home/installation.ts';
import { writeText } from '../files/write-parts.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withHistory } from '../session/workspace.ts';
import { comparisonText } from '../text/comparison-text.ts';

interface CompareOptions {
  readonly of?: QuantityId;
  readonly target?: string;
  readonly by: CostId;
  readonly baseline?: string;
  readonly json: boolean;
  readonly csv?: ComparisonTable;
  readonly out?: string;
  readonly report?: string;
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
    .option('--out <file>', 'output file; default: stdout')
    .option('--report <file>', 'also write a report: one HTML file that opens offline')
    .action(async (names: readonly string[], options: CompareOptions) => {
      await withHistory(async ({ store, coordinator }) => {
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
        await writeText(textOf(comparison, options), options.out);
        if (options.report === undefined) return;
        const made = madeBy(appVersion(), Date.now());
        await writeText(reportHtml(comparisonReport(comparison, made)), options.report);
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
