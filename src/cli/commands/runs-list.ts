/** `gradwire runs list`: all runs, newest first, or those that a filter leaves. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { machineNames, machineTitle } from '../../shared/machines/machine-names.ts';
import { describeMetric } from '../../shared/records/metric.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import { progressText } from '../../shared/spec/program-spec.ts';
import { describeQueued, queueAdvice } from '../../shared/records/queue-text.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { NEWEST_FIRST } from '../../shared/run-query/run-order.ts';
import { filterHelp } from '../text/filter-help.ts';
import { reportError } from '../text/report-error.ts';
import { catchUp } from '../session/catch-up.ts';
import { withHistory } from '../session/workspace.ts';
import { date, loss } from '../text/quantities.ts';
import { columnsThatFit, textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

interface ListOptions {
  readonly filter?: string;
  readonly sort: string;
  readonly search?: string;
  readonly limit: number;
  readonly deleted: boolean;
  readonly json: boolean;
  readonly wide: boolean;
}

export function addRunsListCommand(runs: Command): void {
  runs
    .command('list')
    .description('list runs, by default newest first')
    .option(
      '--search <text>',
      'only runs whose name, id, model or method contains the text',
    )
    .option('--filter <terms>', 'only runs that fulfil all terms, as below')
    .option(
      '--sort <key>',
      'the key to sort by, with - before it descending',
      NEWEST_FIRST,
    )
    .option('--limit <count>', 'most runs to list', parseLimit, 50)
    .option('--deleted', 'list deleted runs', false)
    .option('--json', 'one line of JSON per run', false)
    .option(...WIDE, false)
    .addHelpText('after', `\n${filterHelp()}`)
    .action(list);
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new InvalidArgumentError('It must be a number from 1 to 1000.');
  }
  return limit;
}

async function list(options: ListOptions): Promise<void> {
  await withHistory(async ({ store, coordinator }) => {
    const caughtUp = await catchUp(coordinator);
    const asked = new Set(store.runs.unended().flatMap(({ nodes }) => nodes));
    for (const node of asked) {
      if (!caughtUp && node === LOCAL_NODE) continue; // it has been said, with the reason
      if (coordinator.machines.nodeConnection(node).connection === 'connected')
        continue;
      process.stderr.write(
        `gradwire: ${machineTitle(node)} was not reached: its runs are listed as they were last known ` +
          `here. Check it: gradwire nodes check ${node}.\n`,
      );
    }
    const runs = store.runs.pages
      .page({ ...options, order: options.sort })
      .rows.map(({ run }) => run);
    const damage = store.runs.takeDamage();
    for (const error of damage) reportError(error);
    if (options.json) {
      for (const run of runs) process.stdout.write(`${JSON.stringify(run)}\n`);
    } else if (runs.length === 0) {
      const isAsked = options.filter !== undefined || options.search !== undefined;
      process.stdout.write(
        damage.length > 0
          ? 'no run here can be read\n'
          : isAsked
            ? 'no run matches\n'
            : options.deleted
              ? 'no deleted runs\n'
              : 'no runs yet; start one with: gradwire run quickstart\n',
      );
    } else {
      process.stdout.write(`${tableOf(runs, tableWidth(options.wide))}\n`);
      for (const { id, queue } of runs) {
        const advice = queue && queueAdvice(queue);
        if (advice !== undefined) process.stdout.write(`${id}: ${advice}\n`);
      }
    }
  });
}

/** The table, and the names of the columns for which a terminal has no room. */
function tableOf(runs: readonly RunSummary[], width: number | undefined): string {
  const rows = [HEADINGS, ...runs.map(row)];
  const kept = columnsThatFit(rows, ALIGN, width, SPARE);
  const table = textTable(
    rows.map((cells) => kept.map((column) => cells[column]!)),
    kept.map((column) => ALIGN[column]!),
    width,
  );
  const left = HEADINGS.filter((_, column) => !kept.includes(column));
  return left.length === 0 ? table : `${table}\nand, with --wide: ${left.join(', ')}`;
}

const HEADINGS = [
  'id',
  'created',
  'state',
  'iterations',
  'ranks',
  'machines',
  'loss',
  'metric',
  'methods',
  'network',
  'alerts',
  'tags',
  'name',
];
const ALIGN = [
  'left',
  'left',
  'left',
  'right',
  'right',
  'left',
  'right',
  'right',
  'left',
  'left',
  'left',
  'left',
  'left',
] as const;

/** Columns that a narrow terminal does without, the first of them first. */
const SPARE = [
  'machines',
  'network',
  'ranks',
  'loss',
  'tags',
  'methods',
  'created',
].map((heading) => HEADINGS.indexOf(heading));

function row(run: RunSummary): string[] {
  return [
    run.id,
    date(run.createdAt),
    run.queue === undefined ? run.state : describeQueued(run.queue),
    progressText(run.iterations, run.iterationsPlanned),
    String(run.ranks),
    machinesText(run),
    run.loss === undefined ? '–' : loss(run.loss),
    run.metric === undefined ? '–' : describeMetric(run.metric, run.metricKind),
    methodsText(run.methods),
    run.emulated ?? '',
    (run.alerts ?? []).map(({ rule }) => rule).join(' '),
    (run.tags ?? []).join(' '),
    run.name,
  ];
}

/** Most methods shown of a run with many switches. */
const METHODS_SHOWN = 4;

/** `none → topk → … 96 more … → qsgd`: a run may switch thousands of times. */
export function methodsText(methods: readonly string[]): string {
  const left = methods.length - METHODS_SHOWN;
  const shown =
    left <= 0
      ? methods
      : [...methods.slice(0, METHODS_SHOWN - 1), `… ${left} more …`, methods.at(-1)!];
  return shown.join(' → ');
}

/** Empty for this computer alone. */
function machinesText({ nodes }: RunSummary): string {
  const isHere = nodes.every((node) => node === LOCAL_NODE);
  return isHere ? '' : machineNames(nodes);
}
