/**
 * The run coordinator: launches runs on supervisors, follows them, and stores their
 * records. A record is acknowledged only after it is committed, and after any
 * interruption a run is followed from the last stored record, so nothing is lost or
 * stored twice, whichever process is killed.
 */
import { CoordinatorParts, type CoordinatorOptions } from './coordinator-parts.ts';
import type { RunFollowing } from './run-following.ts';
import type { RunLaunches } from './run-launches.ts';
import type { RunMachines } from './run-machines.ts';
import type { RunOrders } from './run-orders.ts';

export class RunCoordinator {
  readonly #parts: CoordinatorParts;

  constructor(options: CoordinatorOptions) {
    this.#parts = new CoordinatorParts(options);
  }

  get launches(): RunLaunches {
    return this.#parts.launches;
  }

  get following(): RunFollowing {
    return this.#parts.following;
  }

  get machines(): RunMachines {
    return this.#parts.machines;
  }

  get orders(): RunOrders {
    return this.#parts.orders;
  }

  /**
   * Catches up with runs that were not followed: runs that have not ended in the store are
   * followed again, or failed where the supervisor does not know them; runs that only the
   * supervisor knows are added. Resolves when all journals have been caught up. If no run
   * is open and no supervisor runs, none is started.
   */
  async recover(): Promise<void> {
    await this.#parts.recovery.recover();
  }

  /**
   * Follows runs that other processes have launched and added to the store.
   * @param isRepeated whether this is a repeated check
   * @returns whether to check again soon, because some are still being launched
   */
  discover(isRepeated: boolean): Promise<boolean> {
    return this.#parts.recovery.discover(isRepeated);
  }

  /**
   * Stores records that have arrived and disconnects from the supervisors. Runs
   * continue.
   */
  async close(): Promise<void> {
    const { alerts, endings, followers, looks, news, nodes, restarts, tunnels } =
      this.#parts;
    looks.close();
    news.close();
    endings.close();
    restarts.close();
    tunnels.close();
    followers.close();
    // What has just been stored may still have to be told.
    await alerts.close();
    await nodes.close();
  }
}
