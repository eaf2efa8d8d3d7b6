/** `gradwire runs delete`: take a run off the list, or put it back with --undo. */
import type { Command } from 'commander';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

interface DeleteOptions {
  readonly undo: boolean;
  readonly json: boolean;
}

export function addRunsDeleteCommand(runs: Command): void {
  runs
    .command('delete')
    .description('remove a run from the list; --undo restores it')
    .argument('<run>', 'its id or the start of it, or last')
    .option('--undo', 'restore a deleted run', false)
    .option(...JSON_ANSWER)
    .action(async (name: string, { json, undo }: DeleteOptions) => {
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        store.setDeleted(id, !undo);
        answer(
          json,
          { run: id, deleted: !undo },
          undo
            ? `run ${id} restored\n`
            : `run ${id} deleted; undo with: gradwire runs delete --undo ${id}\n`,
        );
      });
    });
}
