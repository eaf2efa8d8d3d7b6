/** `gradwire data list`: the public data sets, and which are here. */
import type { Command } from 'commander';
import path from 'node:path';
import { bytesToFetch, isComplete } from '../../main/data-sets/fetch-set.ts';
import { publicSets } from '../../main/data-sets/public-sets.ts';
import { resolveHome } from '../../main/home/home.ts';
import { formatBytes } from '../../shared/words/units.ts';
import { textTable } from '../text/text-table.ts';
import { tableWidth, WIDE } from '../text/terminal.ts';

export function addDataListCommand(data: Command): void {
  data
    .command('list')
    .description('list public data sets, and where fetched ones are stored')
    .option('--json', 'one line of JSON per data set', false)
    .option(...WIDE, false)
    .action(
      async ({ json, wide }: { readonly json: boolean; readonly wide: boolean }) => {
        const { data: home } = resolveHome();
        const rows = [];
        for (const set of publicSets) {
          const { id, source, title, workload } = set;
          const bytes = bytesToFetch(set);
          const directory = path.join(home, id);
          const place = (await isComplete(set, directory))
            ? path.join(directory, set.data ?? '')
            : undefined;
          rows.push({ id, title, source, bytes, workload, data: place });
        }
        if (json) {
          for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
          return;
        }
        const table = rows.map(({ bytes, data: place, id, source, title }) => [
          ...[id, formatBytes(bytes), title, source],
          place ?? '',
        ]);
        const alignment = ['left', 'right', 'left', 'left', 'left'] as const;
        process.stdout.write(`${textTable(table, alignment, tableWidth(wide))}\n`);
      },
    );
}
