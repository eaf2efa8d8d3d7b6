/** `gradwire nodes uninstall`: remove everything of Gradwire from a machine. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addNodesUninstallCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('uninstall')
      .description('remove the agent and everything it keeps from a machine')
      .argument('<name>', 'its name'),
  )
    .option('--force', 'also delete records of runs that no app has stored yet', false)
    .action(async (name: string, flags: ConnectFlags & { readonly force: boolean }) => {
      await withWorkspace(async ({ store, inventory, coordinator }) => {
        const entry = store.nodes.named(name);
        if (!flags.force) await coordinator.following.collect(name);
        await coordinator.machines.release(name);
        const left = await inventory.remote(entry).uninstall(flags.force);
        process.stdout.write(
          left.length === 0
            ? `${name}: everything was removed\n`
            : `${name}: removed; other machines share its home directory, and theirs stays: ${left.join(', ')}\n`,
        );
      }, connectOptions(flags));
    });
}
