/** `gradwire runs delete`: take runs off the list, or put them back with --undo. */
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
    .description('remove runs from the list; --undo restores them')
    .argument('<runs...>', 'their ids or the starts of them, or last')
    .option('--undo', 'restore deleted runs', false)
    .option(...JSON_ANSWER)
    .action(async (names: readonly string[], { json, undo }: DeleteOptions) => {
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        // All of them are found before the first is deleted.
        const ids = new Set(names.map((name) => resolveRun(store, name)));
        for (const id of ids) {
          store.setDeleted(id, !undo);
          answer(
            json,
            { run: id, deleted: !undo },
            undo
              ? `run ${id} restored\n`
              : `run ${id} deleted; undo with: gradwire runs delete --undo ${id}\n`,
          );
        }
      });
    });
}
