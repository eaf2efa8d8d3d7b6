/**
 * Attempts at a run of a figure in a busy moment, of which there are some in the hours that figures take: its ranks
 * do not start in time, so it has measured nothing, or other work took the processors, so its times say nothing.
 */
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { isBusy } from '../../reproduce/load.ts';

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

/**
 * The first of at most three attempts that was made without other work beside it; else the last. What a run
 * measured has no part in this, so it favours no result.
 */
export async function undisturbedAtLast<T extends object>(
  attempt: () => Promise<T>,
): Promise<T> {
  for (let count = 1; ; count++) {
    const end = await attempt();
    if (!wasDisturbed(end) || count === MOST_ATTEMPTS) return end;
  }
}

/** Whether other work took the processors meanwhile. */
export const wasDisturbed = (end: object): boolean =>
  'others' in end && typeof end.others === 'number' && isBusy(end.others);
