/** `gradwire runs delete`: take a run off the list, or put it back with --undo. */
import type { Command } from 'commander';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';

export function addRunsDeleteCommand(runs: Command): void {
  runs
    .command('delete')
    .description('remove a run from the list; --undo restores it')
    .argument('<run>', 'its id or the start of it')
    .option('--undo', 'restore a deleted run', false)
    .action(async (name: string, { undo }: { readonly undo: boolean }) => {
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        store.setDeleted(id, !undo);
        process.stdout.write(
          undo
            ? `run ${id} restored\n`
            : `run ${id} deleted; undo with: gradwire runs delete --undo ${id}\n`,
        );
      });
    });
}
