/** Stops a sweep, and its runs in progress if asked to. */
import type { RunCoordinator } from '../runs/coordinator.ts';
import type { RunStore } from '../store/run-store.ts';

export interface StopSweepOptions {
  readonly store: Pick<RunStore, 'sweeps'>;
  readonly coordinator: Pick<RunCoordinator, 'following' | 'orders'>;
  /** Runs in progress come to their end; default: they are stopped, and run again on resuming. */
  readonly finishesRuns: boolean;
  /** Called when a run is known to have been asked. */
  readonly received?: (() => void) | undefined;
  /** Whether this process follows the runs already. */
  readonly isDriver: boolean;
}

/**
 * Resolves when the runs that it stops have ended.
 * @throws GradwireError of a run that could not be asked to stop
 */
export async function stopSweep(
  sweep: string,
  { coordinator, finishesRuns, isDriver, received, store }: StopSweepOptions,
): Promise<void> {
  const live = store.sweeps.stop(sweep, { isInterrupted: !finishesRuns });
  if (finishesRuns) return;
  await Promise.all(
    live.map(async (run) => {
      if (!isDriver) await coordinator.following.follow(run, { keep: false });
      await coordinator.orders.give(run, { type: 'stop' }, received);
      await coordinator.following.ended(run);
    }),
  );
}
