/** `gradwire runs purge`: delete deleted runs for good, and give their space back to the disk. */
import type { Command } from 'commander';
import { formatError, GradwireError, inputError } from '../../shared/errors/errors.ts';
import { formatBytes } from '../../shared/words/units.ts';
import type { RunStore } from '../../main/store/run-store.ts';
import { catchUp } from '../session/catch-up.ts';
import { resolveRun } from '../session/run-name.ts';
import { withWorkspace } from '../session/workspace.ts';
import { answer, JSON_ANSWER } from '../text/answer.ts';

export function addRunsPurgeCommand(runs: Command): void {
  runs
    .command('purge')
    .description('delete deleted runs for good, which frees the space of their records')
    .argument('[runs...]', 'their ids or the starts of them')
    .option('--deleted', 'all deleted runs', false)
    .option(...JSON_ANSWER)
    .action(
      async (
        names: readonly string[],
        options: { readonly deleted: boolean; readonly json: boolean },
      ) => {
        if (names.length > 0 === options.deleted) {
          throw inputError('USAGE', 'say which runs are to be purged', {
            next: 'Give ids of deleted runs (gradwire runs list --deleted), or --deleted for all.',
          });
        }
        process.exitCode = await withWorkspace(async ({ store, coordinator }) => {
          await catchUp(coordinator);
          const ids = options.deleted
            ? store.space.deletedRuns()
            : names.map((name) => resolveRun(store, name));
          return purge(store, ids, options.json);
        });
      },
    );
}

/** @returns the exit code: 1 if one of them could not be purged */
function purge(store: RunStore, ids: readonly string[], json: boolean): number {
  const before = store.space.bytes;
  const refused: GradwireError[] = [];
  for (const id of new Set(ids)) {
    try {
      store.purge(id);
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      // The others need not wait for it.
      if (ids.length === 1) throw error;
      refused.push(error);
    }
  }
  const steps = store.space.clear();
  let step = steps.next();
  while (!step.done) step = steps.next();
  const after = store.space.bytes;
  const purged = new Set(ids).size - refused.length;
  answer(
    json,
    { purged, bytes: after, bytesBefore: before },
    `${purged} ${purged === 1 ? 'run' : 'runs'} purged; the history takes ` +
      `${formatBytes(after)}, ${formatBytes(before)} before\n`,
  );
  if (step.value !== undefined) {
    process.stderr.write(
      'gradwire: the file keeps some free space, which new records will use: ' +
        `${formatError(step.value)}\n`,
    );
  }
  for (const error of refused)
    process.stderr.write(`gradwire: ${formatError(error)}\n`);
  return refused.length === 0 ? 0 : 1;
}
