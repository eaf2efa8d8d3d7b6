/** `gradwire nodes list`: the machines that were added. */
import type { Command } from 'commander';
import { textTable } from '../text/text-table.ts';
import { withWorkspace } from '../session/workspace.ts';

const HEADINGS = ['name', 'host', 'through', 'labels'];

export function addNodesListCommand(nodes: Command): void {
  nodes
    .command('list')
    .description('list the machines that were added')
    .option('--json', 'one line of JSON per machine', false)
    .action(async ({ json }: { readonly json: boolean }) => {
      await withWorkspace(async ({ store }) => {
        const entries = store.nodes.list();
        if (json) {
          for (const entry of entries)
            process.stdout.write(`${JSON.stringify(entry)}\n`);
        } else if (entries.length === 0) {
          process.stdout.write('no machines; add one with: gradwire nodes add\n');
        } else {
          const rows = entries.map(({ name, destination, jump = '', labels }) => [
            name,
            destination,
            jump,
            labels.join(', '),
          ]);
          const table = textTable(
            [HEADINGS, ...rows],
            ['left', 'left', 'left', 'left'],
          );
          process.stdout.write(`${table}\n`);
        }
      });
    });
}
