/**
 * Notices what other processes do to runs that have ended: commands delete, restore and purge
 * them. Runs in progress are found by the coordinator.
 */
import type { RunSummary } from '../../shared/rpc/rpc.ts';
import type { RunStore } from '../store/run-store.ts';

export interface HistoryNews {
  /** Runs that were deleted or restored. */
  readonly changed: readonly RunSummary[];
  readonly isPurged: boolean;
}

export class HistoryWatch {
  readonly #store: RunStore;
  #deleted: ReadonlySet<string>;
  #purged: number;

  constructor(store: RunStore) {
    this.#store = store;
    this.#deleted = new Set(store.space.deletedRuns());
    this.#purged = store.space.purgedRuns();
  }

  /** Returns what has changed since the last look. Costs a query of the deleted runs. */
  look(): HistoryNews {
    const { space } = this.#store;
    const before = { deleted: this.#deleted, purged: this.#purged };
    this.#deleted = new Set(space.deletedRuns());
    this.#purged = space.purgedRuns();
    const ids = [
      ...[...before.deleted].filter((id) => !this.#deleted.has(id)),
      ...[...this.#deleted].filter((id) => !before.deleted.has(id)),
    ];
    return {
      changed: ids
        .filter((id) => this.#store.has(id))
        .map((id) => this.#store.summary(id)),
      isPurged: this.#purged !== before.purged,
    };
  }
}
