/** The space that the history takes, and deleting deleted runs for good, for the page. */
import { setImmediate as others } from 'node:timers/promises';
import { toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import type { HistoryStatus, PurgeResult } from '../../shared/rpc/rpc.ts';
import { REWRITE_PAGES } from '../store/history-space.ts';
import type { RunStore } from '../store/run-store.ts';

export class HistoryDesk {
  readonly #store: RunStore;

  constructor(store: RunStore) {
    this.#store = store;
  }

  status(): HistoryStatus {
    const { space } = this.#store;
    return { bytes: space.bytes, deleted: space.deleted() };
  }

  /** Purges deleted runs, by default all; between two steps everything else goes on. */
  async purge(
    runs: readonly string[] = this.#store.space.deletedRuns(),
  ): Promise<PurgeResult> {
    const { space } = this.#store;
    const before = space.bytes;
    const refused: ErrorData[] = [];
    for (const id of new Set(runs)) {
      try {
        this.#store.purge(id);
      } catch (error) {
        refused.push(toErrorData(error));
      }
      await others();
    }
    const steps = space.clear(REWRITE_PAGES);
    let step = steps.next();
    while (!step.done) {
      await others();
      step = steps.next();
    }
    if (step.value !== undefined) refused.push(step.value.toData());
    return { before, after: space.bytes, refused };
  }
}
