/** `gradwire nodes list`: the machines that were added. */
import type { Command } from 'commander';
import { textTable } from '../text/text-table.ts';
import { withWorkspace } from '../session/workspace.ts';

const HEADINGS = ['name', 'host', 'through', 'labels', 'cluster', 'running'];

export function addNodesListCommand(nodes: Command): void {
  nodes
    .command('list')
    .description('list your machines and the runs in progress there')
    .option('--json', 'one line of JSON per machine', false)
    .action(async ({ json }: { readonly json: boolean }) => {
      await withWorkspace(async ({ store }) => {
        const unended = store.unended();
        const runsOn = (name: string): readonly string[] =>
          unended.filter(({ nodes: of }) => of.includes(name)).map(({ id }) => id);
        const entries = store.nodes.list();
        if (json) {
          for (const entry of entries) {
            const line = JSON.stringify({ ...entry, runs: runsOn(entry.name) });
            process.stdout.write(`${line}\n`);
          }
        } else if (entries.length === 0) {
          process.stdout.write('no machines yet; add one with: gradwire nodes add\n');
        } else {
          const rows = entries.map(
            ({ name, destination, jump = '', labels, slurm }) => [
              ...[name, destination, jump, labels.join(', ')],
              ...[slurm === undefined ? '' : 'Slurm', runsOn(name).join(', ')],
            ],
          );
          const table = textTable(
            [HEADINGS, ...rows],
            HEADINGS.map(() => 'left'),
          );
          process.stdout.write(`${table}\n`);
        }
      });
    });
}
