/** `gradwire nodes uninstall`: leave nothing on a machine. */
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
      .description('remove the agent and all that it keeps from a machine')
      .argument('<name>', 'its name'),
  )
    .option('--force', 'also records of runs that no app has stored yet', false)
    .action(async (name: string, flags: ConnectFlags & { readonly force: boolean }) => {
      await withWorkspace(async ({ store, inventory, coordinator }) => {
        const entry = store.nodes.named(name);
        if (!flags.force) await coordinator.collect(name);
        await coordinator.release(name);
        const left = await inventory.remote(entry).uninstall(flags.force);
        process.stdout.write(
          left.length === 0
            ? `${name}: nothing is left\n`
            : `${name}: other machines share its home and keep theirs: ${left.join(', ')}\n`,
        );
      }, connectOptions(flags));
    });
}
