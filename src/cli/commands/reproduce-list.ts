/** `gradwire reproduce list`: the figures that can be reproduced. */
import type { Command } from 'commander';
import type { Figure } from '../../reproduce/figure.ts';
import { figures } from '../../reproduce/figures/registry.ts';
import { plannedRuns } from '../../reproduce/planned-runs.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

export function addReproduceListCommand(reproduce: Command): void {
  reproduce
    .command('list')
    .description('list the figures that can be reproduced, and their claims')
    .option('--json', 'one line of JSON per figure', false)
    .option(...WIDE, false)
    .action((_, command: Command) => {
      // `--json` is an option of the command above as well.
      const { json, wide } = command.optsWithGlobals<{
        readonly json: boolean;
        readonly wide: boolean;
      }>();
      if (json) {
        for (const figure of figures) {
          const { id, paper, number, title, claim, rule } = figure;
          const runs = plannedRuns(figure).length;
          const full = figure.full !== undefined;
          const data = figure.full?.data?.name;
          const line = { id, paper, number, title, claim, rule, runs, full, data };
          process.stdout.write(`${JSON.stringify(line)}\n`);
        }
        return;
      }
      const rows = figures.map((figure) => [
        ...[figure.id, `${figure.paper.name}, ${figure.number}`, figure.title],
        `${plannedRuns(figure).length} runs`,
        fullText(figure),
      ]);
      process.stdout.write(
        `${textTable(rows, ['left', 'left', 'left', 'right', 'left'], tableWidth(wide))}\n`,
      );
    });
}

/** `--full`, with the data that the user must supply. */
function fullText({ full }: Figure): string {
  if (full === undefined) return '';
  return full.data === undefined ? '--full' : `--full, with ${full.data.name}`;
}
