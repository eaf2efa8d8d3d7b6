/**
 * The ends of runs across journals: notifies callers that wait for the end; if one node's
 * journal has ended and another's has not, tells the other nodes why and waits for a while.
 */
import { GradwireError, type ErrorData } from '../../shared/errors/errors.ts';
import { isConsequence, reportOf } from '../../shared/errors/root-cause.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import type { ControlConnection } from '../cluster/control-connection.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { RunStore } from '../store/run-store.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { LateJournals } from './late-journals.ts';
import { abortRanks } from './other-nodes.ts';

/**
 * Most time for a node to answer after another one has failed. By default peers miss a lost
 * one within 3 s, and its user should know within 5.
 */
const ANSWER_MS = 1500;
/** Interval at which the store is asked whether another process has stored an end. */
const LOOK_MS = 1000;

/** Parts that are asked for the ends of runs, or told of them. */
export interface EndingParts {
  readonly store: RunStore;
  readonly news: Pick<
    CoordinatorParts['news'],
    'lastTold' | 'stored' | 'tellRest' | 'trouble'
  >;
  linksOf(run: string): readonly NodeLink[];
}

export class RunEndings {
  readonly #parts: EndingParts;
  readonly #awaited = new Map<string, PromiseWithResolvers<RunSummary>>();
  #look: NodeJS.Timeout | undefined;
  readonly #lateJournals: LateJournals;
  /** Nodes that did not answer after another one had failed, by run; set once all were asked. */
  readonly #outOfReach = new Map<string, ReadonlySet<string>>();
  /** Runs whose nodes are being asked, or were. */
  readonly #asked = new Set<string>();
  readonly #closing = new AbortController();

  constructor(parts: EndingParts) {
    this.#parts = parts;
    this.#lateJournals = new LateJournals((run) => {
      this.#giveUp(run);
    });
  }

  /** The runs whose end somebody waits for. */
  get awaited(): readonly string[] {
    return [...this.#awaited.keys()];
  }

  /**
   * Resolves with the run once it has ended and this or another process has stored everything;
   * rejects if this process stops following it (`leave`).
   */
  of(id: string): Promise<RunSummary> {
    const summary = this.#parts.store.summary(id);
    if (hasEnded(summary.state)) return Promise.resolve(summary);
    let ending = this.#awaited.get(id);
    if (ending === undefined) {
      ending = Promise.withResolvers();
      // The caller may not have begun to wait when it is rejected.
      ending.promise.catch(() => undefined);
      this.#awaited.set(id, ending);
      this.#look ??= setInterval(() => {
        this.#lookForEnds();
      }, LOOK_MS);
    }
    return ending.promise;
  }

  /** Gives up waiting for the end of a run that nobody can tell any more, for this reason. */
  leave(id: string, reason: ErrorData): void {
    this.#awaited.get(id)?.reject(new GradwireError(reason));
    this.#forget(id);
  }

  /** Reports the run's current state. */
  note(summary: RunSummary): void {
    if (!hasEnded(summary.state)) return;
    this.#lateJournals.forget(summary.id);
    this.#asked.delete(summary.id);
    this.#outOfReach.delete(summary.id);
    this.#awaited.get(summary.id)?.resolve(summary);
    this.#forget(summary.id);
  }

  /**
   * Waits a moment for the other journals of a run if one has ended, because they may have the
   * reason.
   */
  awaitJournals(id: string): void {
    const { news, store } = this.#parts;
    const { someEnded, open, failure: cause } = store.journals.endings(id);
    if (!someEnded) return;
    this.#lateJournals.await(id);
    if (cause === undefined) return;
    if (!isConsequence(reportOf(cause))) this.#abortOpen(id);
    const outOfReach = this.#outOfReach.get(id);
    if (outOfReach === undefined)
      this.#findLost(id, open).catch((error: unknown) => {
        news.trouble(error);
      });
    else if (open.every((node) => outOfReach.has(node))) this.#giveUp(id);
  }

  close(): void {
    clearInterval(this.#look);
    this.#closing.abort();
    this.#lateJournals.close();
  }

  #forget(id: string): void {
    this.#awaited.delete(id);
    if (this.#awaited.size > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  }

  /** Looks in the store for ends of awaited runs that another process has stored. */
  #lookForEnds(): void {
    for (const id of this.awaited) {
      try {
        if (!hasEnded(this.#parts.store.summary(id).state)) continue;
        this.#parts.news.tellRest(id);
      } catch (error) {
        // The store cannot be read now; the timer tries again.
        if (!(error instanceof GradwireError)) throw error;
      }
    }
  }

  /**
   * Asks the nodes that have not reported an end. A node that does not answer counts as lost,
   * perhaps because its loss is the reason for the failure, and its journal is not awaited.
   */
  async #findLost(id: string, open: readonly string[]): Promise<void> {
    if (this.#asked.has(id)) return;
    this.#asked.add(id);
    const links = this.#parts.linksOf(id).filter(({ name }) => open.includes(name));
    const { signal } = this.#closing;
    const reached = await Promise.all(links.map((link) => isReached(link, signal)));
    const lost = links.filter((_, index) => !reached[index]).map(({ name }) => name);
    if (signal.aborted || !this.#asked.has(id)) return;
    this.#outOfReach.set(id, new Set(lost));
    this.awaitJournals(id);
  }

  /** Ends the run with what is known. */
  #giveUp(id: string): void {
    try {
      this.#abortOpen(id);
      const { news, store } = this.#parts;
      news.stored(store.ownRecords.endEarly(id, { seen: news.lastTold(id) }));
    } catch (error) {
      this.#parts.news.trouble(error);
    }
  }

  /** Ends the remaining ranks of a run in which a node has failed. */
  #abortOpen(id: string): void {
    const { store } = this.#parts;
    const { open, failure: cause } = store.journals.endings(id);
    if (cause === undefined) return;
    const links = this.#parts.linksOf(id).filter(({ name }) => open.includes(name));
    abortRanks(links, id, cause);
  }
}

/**
 * Whether a node answers over its connection, or is connected again, within `ANSWER_MS`.
 * @param closing ends the wait
 */
async function isReached(link: NodeLink, closing: AbortSignal): Promise<boolean> {
  const { connection } = link;
  const patience = Promise.withResolvers<undefined>();
  const end = (): void => {
    patience.resolve(undefined);
  };
  const timer = setTimeout(end, ANSWER_MS);
  closing.addEventListener('abort', end);
  try {
    if (connection !== undefined && (await answers(connection))) return true;
    await patience.promise;
    return link.connection !== undefined && link.connection !== connection;
  } finally {
    clearTimeout(timer);
    closing.removeEventListener('abort', end);
  }
}

async function answers(connection: ControlConnection): Promise<boolean> {
  try {
    await connection.request('runs', {}, ANSWER_MS);
    return true;
  } catch (error) {
    if (!(error instanceof GradwireError)) throw error;
    return false;
  }
}
