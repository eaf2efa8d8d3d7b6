/** `gradwire sweeps show`: the results of a sweep by point, and its queue. */
import { Option, type Command } from 'commander';
import { readTarget } from '../../shared/comparison/read-target.ts';
import { COST_IDS, type CostId } from '../../shared/comparison/target.ts';
import { formatError } from '../../shared/errors/errors.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveSweep } from '../session/sweep-name.ts';
import { withHistory } from '../session/workspace.ts';
import { date } from '../text/quantities.ts';
import { countsText } from '../text/sweep-progress.ts';
import { queueTable } from '../text/sweep-tables.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';
import { readSweep, resultsText } from './sweep-output.ts';

interface ShowFlags {
  readonly target?: string;
  readonly by: CostId;
  readonly json: boolean;
  readonly wide: boolean;
}

export function addSweepsShowCommand(sweeps: Command): void {
  sweeps
    .command('show')
    .description('show the results of a sweep by point, and its queue')
    .argument('<sweep>', 'its name, its id or the start of it, or last')
    .option(
      '--target <value>',
      'value to reach, such as 0.9 or 90%; default: 95 % of the way to the best',
    )
    .addOption(
      new Option('--by <cost>', 'cost by which points are compared')
        .choices(COST_IDS)
        .default('time'),
    )
    .option('--json', 'print one line of JSON', false)
    .option(...WIDE, false)
    .action(async (name: string, { by, json, target, wide }: ShowFlags) => {
      await withHistory(async ({ coordinator, store }) => {
        await catchUp(coordinator);
        const goal = target === undefined ? undefined : readTarget(target);
        const output = readSweep(store, resolveSweep(store, name), {
          target: goal,
          by,
        });
        const { comparison, detail, results } = output;
        if (json) {
          const line = { ...detail, results, verdict: comparison?.verdict };
          process.stdout.write(`${JSON.stringify(line)}\n`);
          return;
        }
        const width = tableWidth(wide);
        const parts = [
          `sweep ${detail.id}: ${detail.name}, ${detail.state}, created ${date(detail.createdAt)}\n` +
            `${countsText(detail)}\n` +
            (detail.error === undefined ? '' : `${formatError(detail.error)}\n`),
          resultsText(output, width),
          `${queueTable(detail, width)}\n`,
        ];
        process.stdout.write(parts.filter((part) => part !== '').join('\n'));
      });
    });
}
