/** `gradwire runs note`: notes on a run or on one of its iterations. */
import type { Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { noteLine } from '../text/note-line.ts';
import { wholeNumber } from '../text/whole-number.ts';

interface NoteOptions {
  readonly at?: number;
  readonly edit?: number;
  readonly remove?: number;
  readonly json: boolean;
}

export function addRunsNoteCommand(runs: Command): void {
  runs
    .command('note')
    .description(
      'write a note on a run or on an iteration of it; without text: list them',
    )
    .argument('<run>', 'its id or the start of it, or last')
    .argument('[text]', 'the note')
    .option('--at <iteration>', 'pin it to an iteration', wholeNumber)
    .option('--edit <note>', 'change the note of this number', wholeNumber)
    .option('--remove <note>', 'remove the note of this number', wholeNumber)
    .option(...JSON_ANSWER)
    .action(async (name: string, text: string | undefined, options: NoteOptions) => {
      const { at, edit, json, remove } = options;
      const writes = at !== undefined || edit !== undefined;
      if (remove !== undefined ? text !== undefined || writes : !text && writes) {
        throw inputError('USAGE', 'say what the note is to be', {
          next: 'Give a text, with --at or --edit, or only --remove.',
        });
      }
      await withWorkspace(async ({ store, coordinator }) => {
        await catchUp(coordinator);
        const run = resolveRun(store, name);
        const { annotations } = store;
        if (remove !== undefined) {
          const note = annotations.removeNote(run, remove);
          answer(json, note, `note ${note.id} of run ${run} removed\n`);
        } else if (text === undefined) {
          const notes = annotations.notes(run);
          const lines = notes.map(noteLine).join('\n');
          answer(json, notes, notes.length === 0 ? 'no notes\n' : `${lines}\n`);
        } else {
          // A note stays where it is pinned unless the command says where.
          const before = annotations.notes(run).find(({ id }) => id === edit);
          const iteration = at ?? before?.iteration;
          const note = annotations.writeNote(run, { id: edit, text, iteration });
          answer(json, note, `${noteLine(note)}\n`);
        }
      });
    });
}
