/** `gradwire sweep`: one spec with several values and seeds, as a queue of runs. */
import { InvalidArgumentError, type Command } from 'commander';
import { ownName } from '../../main/home/process-name.ts';
import { checkedSweep } from '../../main/sweeps/checked-sweep.ts';
import { storeSweep } from '../../main/sweeps/new-sweep.ts';
import { loadSweep, type SweepChanges } from '../../main/spec/sweep-source.ts';
import { MOST_AT_ONCE } from '../../shared/sweep/sweep-definition.ts';
import type { ExpandedSweep } from '../../shared/sweep/sweep-points.ts';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followSweep } from '../session/follow-sweep.ts';
import { withWorkspace, type Workspace } from '../session/workspace.ts';
import { RepeatableOption } from '../text/option-repetition.ts';
import { countBetween } from '../text/parse-count.ts';
import { pointTable } from '../text/sweep-tables.ts';
import { sizeText } from '../text/sweep-size.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';
import { readSweep, resultsText } from './sweep-output.ts';
import { predictSweep, sweepPlanText } from './sweep-plan.ts';

interface SweepFlags extends ConnectFlags, SweepChanges {
  readonly dryRun: boolean;
  readonly plan: boolean;
  readonly queue: boolean;
  readonly json: boolean;
  readonly wide: boolean;
}

export function addSweepCommand(program: Command): void {
  const command = program
    .command('sweep')
    .summary('run a spec with several values and seeds')
    .description(
      'Run a spec with every combination of several values, each with several seeds, one run ' +
        'after another. Ctrl-C stops the sweep and its run; gradwire sweeps resume goes on.',
    )
    .argument(
      '<spec>',
      'a sweep or a spec: a file, - for stdin, or the name of a preset',
    )
    .addOption(
      new RepeatableOption(
        '--vary <key=value,…>',
        'a key of the spec and its values, for example exchange.method=topk,qsgd; repeatable',
      ).default([], ''),
    )
    .addOption(
      new RepeatableOption(
        '--set <key=value>',
        'change the spec, for example world.ranks=2; repeatable',
      ).default([], ''),
    )
    .option('--seeds <seeds>', 'how many seeds, such as 5, or which: 1,2,7', parseSeeds)
    .option('--name <name>', 'name of the sweep; default: that of the spec')
    .option('--at-once <count>', 'runs at the same time', countBetween(1, MOST_AT_ONCE))
    .option('--dry-run', 'check and list the points, and run nothing', false)
    .option(
      '--plan',
      'as --dry-run, and predict what each point takes, and all together',
      false,
    )
    .option(
      '--queue',
      'only store it; the app, or gradwire sweeps resume, works through it',
      false,
    )
    .option('--json', 'print one line of JSON for each run', false)
    .option(...WIDE, false)
    .action(sweep);
  addConnectOptions(command);
}

async function sweep(source: string, flags: SweepFlags): Promise<void> {
  const definition = await loadSweep(source, flags);
  process.exitCode = await withWorkspace(
    (workspace) =>
      workspace.deployments.exitCodeOf(async () => {
        const { coordinator, store } = workspace;
        const checked = await checkedSweep(coordinator, definition, process.cwd());
        if (flags.plan) {
          const forecasts = await predictSweep(workspace, checked);
          process.stdout.write(sweepPlanText(checked, forecasts, flags));
          return 0;
        }
        if (flags.dryRun) return printPoints(checked, flags);
        const { atOnce } = definition;
        if (flags.queue) {
          const { id } = storeSweep(store, checked, atOnce);
          process.stdout.write(
            flags.json ? `${JSON.stringify({ sweep: id })}\n` : `${id}\n`,
          );
          return 0;
        }
        const { id } = storeSweep(store, checked, atOnce, ownName());
        return await followToResults(workspace, id, flags);
      }),
    connectOptions(flags),
  );
}

/** Follows a sweep, then prints its results. @returns the exit code */
export async function followToResults(
  workspace: Workspace,
  id: string,
  { json, wide }: Pick<SweepFlags, 'json' | 'wide'>,
): Promise<number> {
  const code = await followSweep(workspace, id, { json });
  const { state } = workspace.store.sweeps.summary(id);
  if (state !== 'finished' || json || !process.stdout.writable) return code;
  const text = resultsText(readSweep(workspace.store, id), tableWidth(wide));
  if (text !== '') process.stdout.write(`\n${text}`);
  return code;
}

function printPoints(
  sweep: ExpandedSweep,
  { json, wide }: Pick<SweepFlags, 'json' | 'wide'>,
): number {
  const { keys, name, points, seeds } = sweep;
  if (json) {
    const shown = points.map(({ label, number, spec, values }) => ({
      number,
      label,
      values,
      spec,
    }));
    const runs = points.length * seeds.length;
    process.stdout.write(
      `${JSON.stringify({ name, keys, seeds, runs, points: shown })}\n`,
    );
    return 0;
  }
  process.stdout.write(
    `${sizeText(sweep)}\n${pointTable(keys, points, tableWidth(wide))}\n`,
  );
  return 0;
}

function parseSeeds(text: string): number | readonly number[] {
  const seeds = text.split(',').map(Number);
  if (!/^\d+(,\d+)*$/.test(text)) {
    throw new InvalidArgumentError(
      'It must be a number of seeds, or seeds such as 1,2,7.',
    );
  }
  return text.includes(',') ? seeds : seeds[0]!;
}
