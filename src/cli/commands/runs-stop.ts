/** `gradwire runs stop`: stop a run after its current iteration. */
import type { Command } from 'commander';
import {
  addConnectOptions,
  connectOptions,
  type ConnectFlags,
} from '../session/connect-options.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsStopCommand(runs: Command): void {
  const command = runs
    .command('stop')
    .description('stop a run after its current iteration; its records are kept')
    .argument('<run>', 'its id or the start of it, or last')
    .action(async (name: string, flags: ConnectFlags) => {
      await withWorkspace(async ({ store, coordinator }) => {
        const id = resolveRun(store, name);
        await coordinator.follow(id, { keep: false });
        await coordinator.stop(id);
        const { state, ...summary } = await coordinator.ended(id);
        const done = store.detail(id).events.find((event) => event.type === 'done');
        const iterations = done?.iterations ?? summary.iterations;
        process.stdout.write(`run ${id}: ${state} after ${iterations} iterations\n`);
      }, connectOptions(flags));
    });
  addConnectOptions(command);
}
