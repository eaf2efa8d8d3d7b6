/** `gradwire reproduce list`: the figures that can be repeated. */
import type { Command } from 'commander';
import { figures } from '../../main/reproduce/figures/registry.ts';
import { plannedRuns } from '../../main/reproduce/planned-runs.ts';
import { textTable } from '../text/text-table.ts';

export function addReproduceListCommand(reproduce: Command): void {
  reproduce
    .command('list')
    .description('list the figures that can be repeated, and what they claim')
    .option('--json', 'one line of JSON per figure', false)
    .action((_, command: Command) => {
      // `--json` is an option of the command above as well.
      const { json } = command.optsWithGlobals<{ readonly json: boolean }>();
      if (json) {
        for (const figure of figures) {
          const { id, paper, number, title, claim, rule } = figure;
          const runs = plannedRuns(figure).length;
          const full = figure.full !== undefined;
          const line = { id, paper, number, title, claim, rule, runs, full };
          process.stdout.write(`${JSON.stringify(line)}\n`);
        }
        return;
      }
      const rows = figures.map((figure) => [
        ...[figure.id, `${figure.paper.name}, ${figure.number}`, figure.title],
        `${plannedRuns(figure).length} runs`,
        figure.full === undefined ? '' : '--full',
      ]);
      process.stdout.write(
        `${textTable(rows, ['left', 'left', 'left', 'right', 'left'])}\n`,
      );
    });
}
