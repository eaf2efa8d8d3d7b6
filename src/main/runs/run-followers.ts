/**
 * The runs that are being followed: each has an intake that is subscribed to its journal
 * after the last record stored. Records are acknowledged once they are committed; where
 * the store cannot take them they stay in the journal and are asked for again.
 */
import { GradwireError } from '../../shared/errors.ts';
import type { JournalEntry } from '../../shared/records.ts';
import { hasEnded, type RunSummary } from '../../shared/rpc.ts';
import type { RunStore } from '../store/run-store.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { RecordIntake } from './record-intake.ts';

const STORE_RETRY_MS = 2000;

interface Follower {
  readonly intake: RecordIntake;
  /** Where the journal ended when the run was subscribed to. */
  target: number;
  readonly caughtUp: PromiseWithResolvers<void>;
}

export interface FollowerEvents {
  /** Entries have been committed; the summary is as they leave it. */
  stored(summary: RunSummary, entries: readonly JournalEntry[]): void;
  trouble(error: unknown): void;
}

export class RunFollowers {
  readonly #store: RunStore;
  readonly #events: FollowerEvents;
  readonly #followers = new Map<string, Follower>();
  readonly #retries = new Set<NodeJS.Timeout>();
  #closed = false;

  constructor(store: RunStore, events: FollowerEvents) {
    this.#store = store;
    this.#events = events;
  }

  get size(): number {
    return this.#followers.size;
  }

  has(id: string): boolean {
    return this.#followers.has(id);
  }

  push(id: string, entries: readonly JournalEntry[]): void {
    this.#followers.get(id)?.intake.push(entries);
  }

  /** Resolves when the run is subscribed to; at once where it is followed already. */
  async follow(link: NodeLink, id: string): Promise<void> {
    if (this.#followers.has(id)) return;
    const follower = this.#makeFollower(link, id);
    this.#followers.set(id, follower);
    try {
      const { lastSequence } = await link.request('subscribe', {
        run: id,
        after: follower.intake.stored,
      });
      follower.target = lastSequence;
      if (follower.intake.stored >= lastSequence) follower.caughtUp.resolve();
    } catch (error) {
      follower.caughtUp.resolve();
      if (this.#followers.get(id) === follower) this.#followers.delete(id);
      // It ended, and another process stored its end, before the supervisor was asked.
      if (!hasEnded(this.#store.summary(id).state)) throw error;
    }
  }

  /** Resolves when each has stored what its journal held when it was subscribed to. */
  async caughtUp(): Promise<void> {
    await Promise.all(
      [...this.#followers.values()].map(({ caughtUp }) => caughtUp.promise),
    );
  }

  acknowledge(link: NodeLink, run: string, sequence: number): void {
    link.connection
      ?.request('acknowledge', { run, sequence })
      .catch((error: unknown) => {
        // Lost with its connection: a later one, or the next recovery, says the same.
        if (!(error instanceof GradwireError)) throw error;
      });
  }

  /** Stores what has arrived and follows no more. */
  drop(id: string): void {
    const follower = this.#followers.get(id);
    this.#followers.delete(id);
    follower?.intake.close();
    follower?.caughtUp.resolve();
  }

  /** Drops all, and says which they were. */
  dropAll(): readonly string[] {
    const ids = [...this.#followers.keys()];
    for (const id of ids) this.drop(id);
    return ids;
  }

  close(): void {
    this.#closed = true;
    for (const retry of this.#retries) clearTimeout(retry);
    this.dropAll();
  }

  #makeFollower(link: NodeLink, id: string): Follower {
    let summary = this.#store.summary(id);
    const follower: Follower = {
      target: Infinity,
      caughtUp: Promise.withResolvers(),
      intake: new RecordIntake(this.#store.lastSequence(id), {
        store: (entries) => {
          summary = this.#store.append(id, entries);
        },
        stored: (entries, last) => {
          this.acknowledge(link, id, last);
          if (last >= follower.target) follower.caughtUp.resolve();
          if (hasEnded(summary.state)) this.drop(id);
          this.#events.stored(summary, entries);
        },
        failed: (error) => {
          this.drop(id);
          this.#events.trouble(error);
          if (error instanceof GradwireError) this.#followLater(link, id);
        },
      }),
    };
    return follower;
  }

  /** The store could not take records, because the disk is full perhaps: try again. */
  #followLater(link: NodeLink, id: string): void {
    if (this.#closed) return;
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      this.follow(link, id).catch((error: unknown) => {
        this.#events.trouble(error);
      });
    }, STORE_RETRY_MS);
    this.#retries.add(retry);
  }
}
