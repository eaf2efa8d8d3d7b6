/** `gradwire sweeps resume`: go on with a sweep that was stopped, or that nothing drives. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveSweep } from '../session/sweep-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { WIDE } from '../text/terminal.ts';
import { followToResults } from './sweep.ts';

interface ResumeFlags extends ConnectFlags {
  readonly retry: boolean;
  readonly json: boolean;
  readonly wide: boolean;
}

export function addSweepsResumeCommand(sweeps: Command): void {
  const command = sweeps
    .command('resume')
    .description(
      'go on with a sweep and follow it; if the app or another command drives it, watch it, and take over if that ends',
    )
    .argument('<sweep>', 'its name, its id or the start of it, or last')
    .option('--retry', 'also try runs again that have failed or were stopped', false)
    .option('--json', 'print one line of JSON for each run', false)
    .option(...WIDE, false)
    .action(async (name: string, flags: ResumeFlags) => {
      process.exitCode = await withWorkspace(
        (workspace) =>
          workspace.deployments.exitCodeOf(async () => {
            const { store } = workspace;
            const id = resolveSweep(store, name);
            store.sweeps.resume(id);
            if (flags.retry) {
              const runs = store.sweeps
                .detail(id)
                .runs.filter(({ state }) => state === 'failed' || state === 'stopped')
                .map(({ number }) => number);
              if (runs.length > 0) store.sweeps.edit(id, { type: 'retry', runs });
            }
            return await followToResults(workspace, id, flags);
          }),
        connectOptions(flags),
      );
    });
  addConnectOptions(command);
}
