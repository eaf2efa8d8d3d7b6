/** The run in progress on a machine that a user means. */
import { inputError } from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';

/**
 * Finds a run in progress.
 * @param wanted its id or the start of it
 * @param node the machine's name, for errors
 * @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
 */
export function namedRun(
  runs: readonly RunStatus[],
  wanted: string,
  node: string,
): RunStatus {
  const going = runs.filter(({ phase }) => phase !== 'ended');
  const [found, ...others] = going.filter(({ run }) => run.startsWith(wanted));
  if (found !== undefined && others.length === 0) return found;
  const ids = going.map(({ run }) => run);
  if (found === undefined) {
    const here = ids.length === 0 ? 'no run' : `only ${ids.join(', ')}`;
    throw inputError('RUN_UNKNOWN', `no run "${wanted}" is in progress there`, {
      place: node,
      next: `It has ${here} in progress. List them with: gradwire nodes list.`,
    });
  }
  throw inputError('RUN_AMBIGUOUS', `several runs there start with "${wanted}"`, {
    place: node,
    next: `Give more characters of one of: ${ids.join(', ')}.`,
  });
}
