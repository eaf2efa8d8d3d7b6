/** Limits of the time until a run has begun, and until it has stopped. */
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';

/** Time for building models, loading data and listening; the supervisor gives up earlier. */
export const START_MS = 90_000;

/**
 * Returns the most milliseconds that a stop may take: ranks may have to begin first, and the
 * current iteration and the closing steps may each take as long as ranks wait for each other.
 */
export function stopDeadline({ patienceSeconds }: ExperimentSpec): number {
  return START_MS + 2 * patienceSeconds * 1000;
}
