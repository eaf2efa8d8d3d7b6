/**
 * Attempts at a run whose ranks do not start in time. That comes of a busy moment, in a sweep that may take
 * hours, and such a run has measured nothing.
 */
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';

const MOST_ATTEMPTS = 3;

/** A run that has ended before its first iteration, and why. */
export interface Unstarted {
  readonly unstarted: ErrorData;
}

/**
 * @param attempt begins the run anew each time
 * @throws GradwireError `RANK_NOT_STARTED`, of the last attempt
 */
export async function startedAtLast<T extends object>(
  attempt: () => Promise<T | Unstarted>,
): Promise<T> {
  for (let count = 1; ; count++) {
    const end = await attempt();
    if (!('unstarted' in end)) return end;
    if (count === MOST_ATTEMPTS) throw new GradwireError(end.unstarted);
  }
}
