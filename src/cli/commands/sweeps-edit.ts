/** `gradwire sweeps edit`: change the queue of a sweep, also while it is worked through. */
import { InvalidArgumentError, type Command } from 'commander';
import { inputError } from '../../shared/errors/errors.ts';
import { MOST_AT_ONCE } from '../../shared/sweep/sweep-definition.ts';
import { sweepEditSchema, type SweepEdit } from '../../shared/sweep/sweep-edit.ts';
import { plainIssue } from '../../shared/checks/plain-issue.ts';
import { resolveSweep } from '../session/sweep-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';
import { countBetween } from '../text/parse-count.ts';
import { countsText } from '../text/sweep-progress.ts';

interface EditFlags {
  readonly drop?: readonly number[];
  readonly retry?: readonly number[];
  readonly first?: readonly number[];
  readonly addSeeds?: readonly number[];
  readonly atOnce?: number;
  readonly json: boolean;
}

export function addSweepsEditCommand(sweeps: Command): void {
  sweeps
    .command('edit')
    .description('change the queue of a sweep, also while it is worked through')
    .argument('<sweep>', 'its name, its id or the start of it, or last')
    .option('--drop <numbers>', 'take these runs out of the queue: 3,7-9', parseRuns)
    .option(
      '--retry <numbers>',
      'put runs that failed, were stopped or dropped into the queue again',
      parseRuns,
    )
    .option('--first <numbers>', 'run these next, in this order', parseRuns)
    .option('--add-seeds <seeds>', 'run all points with these seeds, too', parseNumbers)
    .option('--at-once <count>', 'runs at the same time', countBetween(1, MOST_AT_ONCE))
    .option(...JSON_ANSWER)
    .action(async (name: string, flags: EditFlags) => {
      const edits = editsOf(flags);
      await withWorkspace(({ store }) => {
        const id = resolveSweep(store, name);
        for (const edit of edits) store.sweeps.edit(id, edit);
        const summary = store.sweeps.summary(id);
        const text = `sweep ${id}: ${summary.state}, ${countsText(summary)}\n`;
        answer(flags.json, summary, text);
        return Promise.resolve();
      });
    });
}

function editsOf({
  addSeeds,
  atOnce,
  drop,
  first,
  retry,
}: EditFlags): readonly SweepEdit[] {
  const edits = [
    ...(addSeeds === undefined ? [] : [{ type: 'seeds', seeds: addSeeds }]),
    ...(retry === undefined ? [] : [{ type: 'retry', runs: retry }]),
    ...(drop === undefined ? [] : [{ type: 'drop', runs: drop }]),
    ...(first === undefined ? [] : [{ type: 'first', runs: first }]),
    ...(atOnce === undefined ? [] : [{ type: 'at-once', atOnce }]),
  ];
  if (edits.length === 0) {
    throw inputError('USAGE', 'nothing is to be changed', {
      place: 'sweeps edit',
      next: 'Give --drop, --retry, --first, --add-seeds or --at-once.',
    });
  }
  refuseBoth('--drop', drop, '--retry', retry);
  refuseBoth('--drop', drop, '--first', first);
  return edits.map((edit) => {
    const parsed = sweepEditSchema.safeParse(edit);
    if (parsed.success) return parsed.data;
    throw inputError('SWEEP_INVALID', plainIssue(parsed.error.issues[0]!), {
      place: `--${edit.type === 'seeds' ? 'add-seeds' : edit.type}`,
    });
  });
}

/** A run that is dropped and put back at once says nothing about what is wanted. */
function refuseBoth(
  one: string,
  runs: readonly number[] = [],
  other: string,
  others: readonly number[] = [],
): void {
  const both = runs.find((run) => others.includes(run));
  if (both === undefined) return;
  throw inputError('USAGE', `run ${both} is both in ${one} and in ${other}`, {
    place: 'sweeps edit',
    next: 'Give it in one of them.',
  });
}

const MOST_NUMBERS = 1000;

/** Numbers of runs in the queue. */
function parseRuns(text: string): readonly number[] {
  const runs = parseNumbers(text);
  if (runs.includes(0)) throw new InvalidArgumentError('Runs are numbered from 1.');
  return runs;
}

/** `3,7-9` */
function parseNumbers(text: string): readonly number[] {
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) {
    throw new InvalidArgumentError('It must be numbers, such as 3,7-9.');
  }
  const numbers = text.split(',').flatMap((part) => {
    const [from = 0, to = from] = part.split('-').map(Number);
    if (to < from || to - from >= MOST_NUMBERS) {
      throw new InvalidArgumentError(`${part} is no range of at most ${MOST_NUMBERS}.`);
    }
    return Array.from({ length: to - from + 1 }, (_, index) => from + index);
  });
  return [...new Set(numbers)];
}
