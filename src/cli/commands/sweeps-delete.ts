/** `gradwire sweeps delete`: forget a sweep; its runs are kept. */
import type { Command } from 'commander';
import { resolveSweep } from '../session/sweep-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

export function addSweepsDeleteCommand(sweeps: Command): void {
  sweeps
    .command('delete')
    .description('delete a sweep and its queue for good; its runs are kept')
    .argument('<sweep>', 'its name, its id or the start of it, or last')
    .option(...JSON_ANSWER)
    .action(async (name: string, { json }: { readonly json: boolean }) => {
      await withWorkspace(({ store }) => {
        const id = resolveSweep(store, name);
        store.sweeps.remove(id);
        answer(json, { sweep: id, deleted: true }, `sweep ${id}: deleted\n`);
        return Promise.resolve();
      });
    });
}
