/**
 * Notices what other processes do to runs that have ended: commands delete, restore and purge
 * them. Runs in progress are found by the coordinator, unless they end before it looks: those are
 * noticed here, too.
 */
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { RunStore } from '../store/run-store.ts';

export interface HistoryNews {
  /** Runs that were deleted, restored, tagged, renamed or noted on, or have ended. */
  readonly changed: readonly RunSummary[];
  readonly isPurged: boolean;
}

export class HistoryWatch {
  readonly #store: RunStore;
  #deleted: ReadonlySet<string>;
  #purged: number;
  /** Runs that had not ended at the last look, and the number of the newest one. */
  #unended: readonly string[];
  #newest: number;
  /** Number of the last annotation. */
  #annotated: number;

  constructor(store: RunStore) {
    this.#store = store;
    this.#deleted = new Set(store.space.deletedRuns());
    this.#purged = store.space.purgedRuns();
    this.#unended = store.runs.unended().map(({ id }) => id);
    this.#newest = store.runs.newest();
    this.#annotated = store.annotations.latest();
  }

  /** Takes notice of a run that this process has deleted or restored, and told of. */
  note({ deleted, id }: Pick<RunSummary, 'deleted' | 'id'>): void {
    const others = [...this.#deleted].filter((each) => each !== id);
    this.#deleted = new Set(deleted ? [...others, id] : others);
  }

  /** Returns what has changed since the last look. Costs a few short queries. */
  look(): HistoryNews {
    const { space } = this.#store;
    const before = { deleted: this.#deleted, purged: this.#purged };
    this.#deleted = new Set(space.deletedRuns());
    this.#purged = space.purgedRuns();
    const seen = this.#annotated;
    // Read first: what is written meanwhile is told twice rather than never.
    this.#annotated = this.#store.annotations.latest();
    const annotated = this.#store.annotations.changedAfter(seen);
    const ids = new Set([
      ...this.#endedSince(),
      ...annotated,
      ...[...before.deleted].filter((id) => !this.#deleted.has(id)),
      ...[...this.#deleted].filter((id) => !before.deleted.has(id)),
    ]);
    return {
      changed: [...ids]
        .filter((id) => this.#store.has(id))
        .map((id) => this.#store.summary(id)),
      isPurged: this.#purged !== before.purged,
    };
  }

  /** Runs that have ended since the last look, also those that began after it. */
  #endedSince(): readonly string[] {
    const { runs } = this.#store;
    const before = { unended: this.#unended, newest: this.#newest };
    // Read first: what begins meanwhile is new at the next look.
    this.#newest = runs.newest();
    this.#unended = runs.unended().map(({ id }) => id);
    const goesOn = new Set(this.#unended);
    return [
      ...before.unended.filter((id) => !goesOn.has(id)),
      ...runs.endedAfter(before.newest),
    ];
  }
}
