/**
 * The run that the current call is for, also in callbacks of its processes and timers. A fault that
 * nothing else caught then ends that run, and no other.
 * Upholds invariant I13 (docs/architecture.md).
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const scope = new AsyncLocalStorage<string>();

/** @param run its id */
export function forRun<T>(run: string, work: () => T): T {
  return scope.run(run, work);
}

/** Returns the run of the current call; undefined outside of any. */
export function currentRun(): string | undefined {
  return scope.getStore();
}
