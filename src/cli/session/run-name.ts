/** A run's name on the command line: the beginning of its id, or `last`. */
import { inputError } from '../../shared/errors/errors.ts';
import type { RunStore } from '../../main/store/run-store.ts';

/** @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS` */
export function resolveRun(store: RunStore, name: string): string {
  if (name !== 'last') return store.runs.resolve(name);
  const [newest] = store.runs.list({ limit: 1 });
  if (newest === undefined) {
    if (store.runs.list({ deleted: true, limit: 1 }).length > 0) {
      throw inputError('RUN_UNKNOWN', 'all runs are deleted', {
        next: 'See them: gradwire runs list --deleted. Restore one: gradwire runs delete ID --undo.',
      });
    }
    throw inputError('RUN_UNKNOWN', 'there are no runs yet', {
      next: 'Start one: gradwire run quickstart.',
    });
  }
  return newest.id;
}
