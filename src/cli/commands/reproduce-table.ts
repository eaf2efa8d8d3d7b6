/** `gradwire reproduce table DIR`: all results of a directory as Markdown. */
import type { Command } from 'commander';
import { inputError, type GradwireError } from '../../shared/errors/errors.ts';
import { figures } from '../../reproduce/figures/registry.ts';
import { inOrder, resultsDocument } from '../../reproduce/page/results-document.ts';
import { readResults } from '../../main/figures/read-results.ts';

export function addReproduceTableCommand(reproduce: Command): void {
  reproduce
    .command('table')
    .description('print the results of a directory as one Markdown document')
    .argument('[directory]', 'directory with the results', 'reproduced')
    .option('--json', 'one line of JSON for each result', false)
    .action(async (directory: string, { json }: { readonly json: boolean }) => {
      const order = figures.map(({ id }) => id);
      const found = await readResults(directory, order);
      if (found.length === 0) throw noResults(directory);
      const sorted = inOrder(found, order);
      const missing = order.filter((id) => !found.some(({ figure }) => figure === id));
      process.stdout.write(
        json
          ? sorted.map((result) => `${JSON.stringify(result)}\n`).join('')
          : resultsDocument(sorted, missing),
      );
    });
}

export const noResults = (directory: string): GradwireError =>
  inputError('RESULTS_MISSING', 'no results here', {
    place: directory,
    next: 'Produce them first: gradwire reproduce --all.',
  });
