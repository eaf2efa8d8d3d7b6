/** `gradwire runs rename`: a title for a run in place of its spec's name. */
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

interface RenameOptions {
  readonly reset: boolean;
  readonly json: boolean;
}

export function addRunsRenameCommand(runs: Command): void {
  runs
    .command('rename')
    .description(
      'give a run a title; its spec keeps the name that it was launched with',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .argument('[title]', 'shown in place of the name in its spec')
    .option('--reset', 'show the name in its spec again', false)
    .option(...JSON_ANSWER)
    .action(async (name: string, title: string | undefined, options: RenameOptions) => {
      if ((title === undefined) !== options.reset) {
        throw inputError('USAGE', 'say what the run is to be called', {
          next: 'Give a title, or --reset for the name in its spec.',
        });
      }
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const id = resolveRun(store, name);
        store.annotations.rename(id, title);
        const shown = store.summary(id).name;
        answer(
          options.json,
          { run: id, name: shown },
          `run ${id} is now called ${shown}\n`,
        );
      });
    });
}
