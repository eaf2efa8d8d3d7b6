/**
 * The ends of runs across journals: notifies callers that wait for the end; if one node's
 * journal has ended and another's has not, tells the other nodes why and waits for a while.
 */
import { isConsequence, reportOf } from '../../shared/root-cause.ts';
import { hasEnded, type RunSummary } from '../../shared/rpc.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { RunStore } from '../store/run-store.ts';
import { LateJournals } from './late-journals.ts';
import { abortRanks } from './other-nodes.ts';

export interface RunEndingsOptions {
  readonly store: RunStore;
  readonly linksOf: (run: string) => readonly NodeLink[];
  /** Ends a run with what is known. */
  readonly endEarly: (run: string) => void;
  readonly trouble: (error: unknown) => void;
}

export class RunEndings {
  readonly #options: RunEndingsOptions;
  readonly #awaited = new Map<string, PromiseWithResolvers<RunSummary>>();
  readonly #lateJournals: LateJournals;

  constructor(options: RunEndingsOptions) {
    this.#options = options;
    this.#lateJournals = new LateJournals((run) => {
      try {
        this.#abortOpen(run);
        options.endEarly(run);
      } catch (error) {
        options.trouble(error);
      }
    });
  }

  /** Resolves with the run once it has ended and everything is stored. */
  of(id: string): Promise<RunSummary> {
    const summary = this.#options.store.summary(id);
    if (hasEnded(summary.state)) return Promise.resolve(summary);
    let ending = this.#awaited.get(id);
    if (ending === undefined) {
      ending = Promise.withResolvers();
      this.#awaited.set(id, ending);
    }
    return ending.promise;
  }

  /** Reports the run's current state. */
  note(summary: RunSummary): void {
    if (!hasEnded(summary.state)) return;
    this.#lateJournals.forget(summary.id);
    this.#awaited.get(summary.id)?.resolve(summary);
    this.#awaited.delete(summary.id);
  }

  /**
   * Some journals of a run may have ended; the others have some time to give the
   * reason.
   */
  awaitJournals(id: string): void {
    const { someEnded, failure: cause } = this.#options.store.openJournals(id);
    if (!someEnded) return;
    this.#lateJournals.await(id);
    if (cause !== undefined && !isConsequence(reportOf(cause))) this.#abortOpen(id);
  }

  close(): void {
    this.#lateJournals.close();
  }

  /** Ends the remaining ranks of a run in which a node has failed. */
  #abortOpen(id: string): void {
    const { store, linksOf } = this.#options;
    const { open, failure: cause } = store.openJournals(id);
    if (cause === undefined) return;
    const links = linksOf(id).filter(({ name }) => open.includes(name));
    abortRanks(links, id, cause);
  }
}
