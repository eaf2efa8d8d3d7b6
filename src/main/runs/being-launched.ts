/** Runs that a process has created and not yet handed to a supervisor. */
import { lifeOf } from '../home/process-name.ts';
import type { UnendedRun } from '../store/run-list.ts';

/** Time for a process that cannot be seen from here to hand its run to a supervisor. */
const UNSEEN_LAUNCH_MS = 10 * 60_000;

/**
 * Whether this or another process is about to start the run. A process on another host or in
 * another container cannot be checked, and counts as alive for `UNSEEN_LAUNCH_MS`.
 */
export function isBeingLaunched(run: UnendedRun): boolean {
  const { createdAt, launcher, starting } = run;
  if (!starting || launcher === undefined) return false;
  const life = lifeOf(launcher);
  return life === 'unknown'
    ? Date.now() - createdAt < UNSEEN_LAUNCH_MS
    : life === 'alive';
}
