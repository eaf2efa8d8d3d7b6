/** `gradwire nodes uninstall`: remove everything of Gradwire from a machine. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

interface UninstallFlags extends ConnectFlags {
  readonly force: boolean;
  readonly json: boolean;
}

export function addNodesUninstallCommand(nodes: Command): void {
  addConnectOptions(
    nodes
      .command('uninstall')
      .description('remove the agent and everything it keeps from a machine')
      .argument('<name>', 'its name'),
  )
    .option('--force', 'also delete records of runs that no app has stored yet', false)
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: UninstallFlags) => {
      await withWorkspace(async ({ store, inventory, coordinator }) => {
        const entry = store.nodes.named(name);
        if (!flags.force) await coordinator.following.collect(name);
        await coordinator.machines.release(name);
        const left = await inventory.remote(entry).uninstall(flags.force);
        answer(
          flags.json,
          { uninstalled: name, shared: left },
          left.length === 0
            ? `${name}: everything was removed\n`
            : `${name}: removed; other machines share its home directory, and theirs stays: ${left.join(', ')}\n`,
        );
      }, connectOptions(flags));
    });
}
