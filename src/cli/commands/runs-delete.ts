/** `gradwire runs delete`: take a run off the list, or put it back with --undo. */
import type { Command } from 'commander';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsDeleteCommand(runs: Command): void {
  runs
    .command('delete')
    .description('take a run off the list; --undo brings it back')
    .argument('<run>', 'the beginning of its id')
    .option('--undo', 'bring a deleted run back', false)
    .action(async (name: string, { undo }: { readonly undo: boolean }) => {
      await withWorkspace(async ({ store, coordinator }) => {
        await coordinator.recover();
        const id = resolveRun(store, name);
        store.setDeleted(id, !undo);
        process.stdout.write(
          undo
            ? `run ${id} is back\n`
            : `run ${id} deleted; undo with: gradwire runs delete --undo ${id}\n`,
        );
      });
    });
}
