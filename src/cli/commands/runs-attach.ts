/** `gradwire runs attach`: what a run has recorded so far, then follow it to its end. */
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
    .description(
      'print a run from its beginning and follow it; Ctrl-C leaves it running',
    )
    .argument('<run>', 'the beginning of its id, or last')
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
            await coordinator.follow(id);
          },
        );
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}
