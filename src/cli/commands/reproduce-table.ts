/** `gradwire reproduce table DIR`: all results of a directory as Markdown. */
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { figures } from '../../reproduce/figures/registry.ts';
import { resultsDocument } from '../../reproduce/page/results-document.ts';
import type { Result } from '../../reproduce/result.ts';
import { readResults } from '../../main/figures/read-results.ts';

export function addReproduceTableCommand(reproduce: Command): void {
  reproduce
    .command('table')
    .description('print the results of a directory as one Markdown document')
    .argument('[directory]', 'directory with the results', 'reproduced')
    .option('--json', 'one line of JSON for each result', false)
    .action(async (directory: string, { json }: { readonly json: boolean }) => {
      const found = await readResults(directory);
      if (found.length === 0) {
        throw inputError('RESULTS_MISSING', 'no results here', {
          place: directory,
          next: 'Produce them first: gradwire reproduce --all.',
        });
      }
      const order = figures.map(({ id }) => id);
      const place = ({ figure }: Result): number =>
        order.includes(figure) ? order.indexOf(figure) : order.length;
      const sorted = found.toSorted((a, b) => place(a) - place(b));
      const missing = order.filter((id) => !found.some(({ figure }) => figure === id));
      process.stdout.write(
        json
          ? sorted.map((result) => `${JSON.stringify(result)}\n`).join('')
          : resultsDocument(sorted, missing),
      );
    });
}
