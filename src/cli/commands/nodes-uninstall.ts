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
  ).action(async (name: string, flags: ConnectFlags) => {
    await withWorkspace(async ({ store, inventory }) => {
      const left = await inventory.remote(store.nodes.named(name)).uninstall();
      process.stdout.write(
        left.length === 0
          ? `${name}: nothing is left\n`
          : `${name}: other machines share its home and keep theirs: ${left.join(', ')}\n`,
      );
    }, connectOptions(flags));
  });
}
