/** `gradwire runs attach`: print what a run has recorded so far, then follow it. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { followRun } from '../session/follow-run.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsAttachCommand(runs: Command): void {
  const command = runs
    .command('attach')
    .description('print a run from its start and follow it; Ctrl-C leaves it running')
    .argument('<run>', 'its id or the start of it, or last')
    .option('--json', 'print every record as one line of JSON', false)
    .action(async (name: string, flags: ConnectFlags & { readonly json: boolean }) => {
      process.exitCode = await withWorkspace(async (workspace) => {
        const { store, coordinator } = workspace;
        const id = resolveRun(store, name);
        return followRun(
          workspace,
          id,
          { json: flags.json, mode: 'attach' },
          async () => {
            await coordinator.following.follow(id);
          },
        );
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}
