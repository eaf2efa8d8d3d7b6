/**
 * The followed journals, by run and node. If the store cannot be written, records stay in the
 * journal and are requested again. A record that can never be stored fails its run, so that no
 * run holds up itself or another.
 */
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { JournalFollower, tell } from './journal-follower.ts';
import type { NodeLink } from '../cluster/node-link.ts';

const STORE_RETRY_MS = 2000;

export class RunFollowers {
  readonly #parts: CoordinatorParts;
  /** Followers by run and node. */
  readonly #followers = new Map<string, Map<string, JournalFollower>>();
  readonly #retries = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(parts: CoordinatorParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#followers.size;
  }

  /** The runs with a followed journal; on one node, if given. */
  ids(link?: NodeLink): readonly string[] {
    const all = [...this.#followers.keys()];
    return link === undefined ? all : all.filter((id) => this.has(id, link));
  }

  has(id: string, link?: NodeLink): boolean {
    const followers = this.#followers.get(id);
    return link === undefined ? followers !== undefined : !!followers?.has(link.name);
  }

  /** Resolves once the journal is subscribed to; at once if it is already followed. */
  async follow(link: NodeLink, id: string): Promise<void> {
    if (this.has(id, link)) return;
    const follower = this.#makeFollower(link, id);
    if (!this.has(id)) this.#followers.set(id, new Map());
    this.#followers.get(id)!.set(link.name, follower);
    try {
      this.#parts.news.begin(id);
      await follower.begin();
    } catch (error) {
      follower.close();
      if (this.#followers.get(id)?.get(link.name) === follower) {
        this.#forget(id, link.name);
      }
      if (!hasEnded(this.#parts.store.summary(id).state)) throw error;
      // It ended before the supervisor was asked, and another process stored its end.
      this.#parts.news.tellRest(id);
    }
  }

  /**
   * A journal has ended. If it is shorter than what is stored of it, its closing record is
   * the next one that is stored.
   */
  ended(link: NodeLink, { run, lastSequence, ending }: RunStatus): void {
    const follower = this.#followers.get(run)?.get(link.name);
    follower?.flush();
    if (follower === undefined || follower.stored < lastSequence) return;
    const isOpen = this.#parts.store.journals.isOpen(run, link.name);
    if (!this.has(run, link) || !isOpen) return;
    const record = ending ?? { type: 'failed', at: Date.now(), error: endUnknown() };
    follower.push([{ sequence: follower.stored + 1, record }]);
    follower.flush();
  }

  /**
   * Resolves when each has stored what its journal held at the time of subscription.
   */
  async caughtUp(): Promise<void> {
    const all = [...this.#followers.values()].flatMap((of) => [...of.values()]);
    await Promise.all(all.map(({ caughtUp }) => caughtUp));
  }

  /** Stores what has arrived for a run, or its journal on one node, and stops following. */
  drop(id: string, link?: NodeLink): void {
    for (const [node, follower] of this.#followers.get(id) ?? []) {
      if (link === undefined || link.name === node) this.#dropFollower(id, follower);
    }
  }

  dropAll(link?: NodeLink): void {
    for (const id of this.ids(link)) this.drop(id, link);
  }

  close(): void {
    this.#closed = true;
    for (const retry of this.#retries) clearTimeout(retry);
    this.dropAll();
  }

  #dropFollower(id: string, follower: JournalFollower): void {
    follower.close();
    this.#forget(id, follower.link.name);
  }

  #forget(id: string, node: string): void {
    const followers = this.#followers.get(id);
    followers?.delete(node);
    if (followers?.size !== 0) return;
    this.#followers.delete(id);
  }

  #makeFollower(link: NodeLink, id: string): JournalFollower {
    return new JournalFollower(this.#parts, id, link, {
      over: () => {
        this.drop(id, link);
      },
      untold: (error) => {
        // Following it again tells the rest.
        this.drop(id, link);
        this.#parts.news.trouble(error);
        this.#followLater(link, id);
      },
      failed: (error) => {
        this.drop(id, link);
        this.#giveUp(link, id, error);
      },
    });
  }

  /** Retries later if the store cannot be written now; otherwise the run has failed. */
  #giveUp(link: NodeLink, id: string, error: unknown): void {
    try {
      // Another process has purged the run.
      if (!this.#parts.store.has(id)) return;
      if (isOfTheStore(error)) throw error;
      const summary = this.#parts.store.fail(id, toErrorData(error), Date.now());
      this.#parts.news.stored({ summary, entries: [] });
      this.#parts.news.refused(summary);
    } catch (trouble) {
      this.#parts.news.trouble(trouble);
      this.#followLater(link, id);
    }
  }

  /** Follows the journal again later, because the store cannot be written now: a full disk, say. */
  #followLater(link: NodeLink, id: string): void {
    if (this.#closed) return;
    // Nobody takes pushed records until then.
    tell(link, 'unsubscribe', { run: id });
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      this.follow(link, id).catch((error: unknown) => {
        this.#parts.news.trouble(error);
        if (isOfTheStore(error)) this.#followLater(link, id);
      });
    }, STORE_RETRY_MS);
    this.#retries.add(retry);
  }
}

/** The end of a run whose supervisor has an older version, which does not tell the closing record. */
const endUnknown = (): ErrorData =>
  failure('JOURNAL_DAMAGED', 'the journal of this run ends before its closing record', {
    next: 'Everything before is stored. Launch the run again.',
  }).toData();

/** Whether the store itself failed, not the record. */
function isOfTheStore(error: unknown): boolean {
  return error instanceof GradwireError && error.code.startsWith('DATABASE_');
}
