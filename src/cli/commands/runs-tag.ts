/** `gradwire runs tag`: give runs a tag, or take it from them. */
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { filterHelp } from '../text/filter-help.ts';

interface TagOptions {
  readonly filter?: string;
  readonly remove: boolean;
  readonly json: boolean;
}

export function addRunsTagCommand(runs: Command): void {
  runs
    .command('tag')
    .description('give runs a tag, by which they can be found; --remove takes it away')
    .argument('<tag>', 'one word')
    .argument('[runs...]', 'their ids or the starts of them, or last')
    .option('--filter <terms>', 'all runs that fulfil the terms, as below')
    .option('--remove', 'take the tag away', false)
    .option(...JSON_ANSWER)
    .addHelpText('after', `\n${filterHelp()}`)
    .action(async (tag: string, names: readonly string[], options: TagOptions) => {
      const { filter, json, remove } = options;
      if (names.length > 0 === (filter !== undefined)) {
        throw inputError('USAGE', 'say which runs are to be tagged', {
          next: 'Give their ids, or --filter with terms.',
        });
      }
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const ids =
          filter === undefined
            ? names.map((name) => resolveRun(store, name))
            : store.runs.pages.matching({ filter });
        const changed = store.annotations.tag(ids, tag, !remove);
        const count = changed.length === 1 ? '1 run' : `${changed.length} runs`;
        answer(
          json,
          { tag, tagged: !remove, changed },
          `${count} ${remove ? 'no longer tagged' : 'tagged'} ${tag}\n`,
        );
      });
    });
}
