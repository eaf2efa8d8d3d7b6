/** `gradwire nodes remove`: take a machine out of the inventory. */
import type { Command } from 'commander';
import { inputError } from '../../shared/errors.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addNodesRemoveCommand(nodes: Command): void {
  nodes
    .command('remove')
    .description('forget a machine; what was deployed there stays: see uninstall')
    .argument('<name>', 'its name')
    .action(async (name: string) => {
      await withWorkspace(async ({ store }) => {
        store.nodes.named(name);
        const busy = store.unended().find(({ nodes: of }) => of.includes(name));
        if (busy !== undefined) {
          throw inputError('NODE_IN_USE', `run ${busy.id} has ranks on ${name}`, {
            next: `Stop it first: gradwire runs stop ${busy.id}.`,
          });
        }
        store.nodes.remove(name);
        process.stdout.write(`removed ${name}\n`);
      });
    });
}
