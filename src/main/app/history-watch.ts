/**
 * Notices what other processes do to runs that have ended: commands delete, restore and purge
 * them. Runs in progress are found by the coordinator, unless they end before it looks: those are
 * noticed here, too.
 */
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { RunStore } from '../store/run-store.ts';
import { isInvalidRow } from '../store/stored-json.ts';

export interface HistoryNews {
  /** Runs that were deleted, restored, tagged, renamed or noted on, or have ended. */
  readonly changed: readonly RunSummary[];
  readonly isPurged: boolean;
}

/** The history as a look found it. */
interface Seen {
  readonly deleted: ReadonlySet<string>;
  readonly purged: number;
  /** Number of the newest run, and the runs that had not ended. */
  readonly newest: number;
  readonly unended: readonly string[];
  /** Number of the last annotation. */
  readonly annotated: number;
}

export class HistoryWatch {
  readonly #store: RunStore;
  #seen: Seen;

  constructor(store: RunStore) {
    this.#store = store;
    this.#seen = historyOf(store);
  }

  /** Takes notice of a run that this process has deleted or restored, and told of. */
  note({ deleted, id }: Pick<RunSummary, 'deleted' | 'id'>): void {
    const others = [...this.#seen.deleted].filter((each) => each !== id);
    this.#seen = {
      ...this.#seen,
      deleted: new Set(deleted ? [...others, id] : others),
    };
  }

  /**
   * Returns what has changed since the last look. Costs a few short queries. A look that fails
   * has seen nothing: the next one tells what it would have.
   */
  look(): HistoryNews {
    const { annotations, runs } = this.#store;
    const before = this.#seen;
    const now = historyOf(this.#store);
    const goesOn = new Set(now.unended);
    const ids = new Set([
      ...before.unended.filter((id) => !goesOn.has(id)),
      // Also those that began after the last look.
      ...runs.endedAfter(before.newest),
      ...annotations.changedAfter(before.annotated),
      ...[...before.deleted].filter((id) => !now.deleted.has(id)),
      ...[...now.deleted].filter((id) => !before.deleted.has(id)),
    ]);
    const changed = [...ids].flatMap((id) => this.#summary(id) ?? []);
    this.#seen = now;
    return { changed, isPurged: now.purged !== before.purged };
  }

  /** The summary of a run, unless it is purged or its row is damaged, which lists tell. */
  #summary(id: string): RunSummary | undefined {
    try {
      return this.#store.has(id) ? this.#store.summary(id) : undefined;
    } catch (error) {
      if (!isInvalidRow(error)) throw error;
      return undefined;
    }
  }
}

/** Reads numbers first: what is written meanwhile is told twice rather than never. */
const historyOf = ({ annotations, runs, space }: RunStore): Seen => ({
  annotated: annotations.latest(),
  newest: runs.newest(),
  unended: runs.unended().map(({ id }) => id),
  deleted: new Set(space.deletedRuns()),
  purged: space.purgedRuns(),
});
