/**
 * The runs that are being followed: each has an intake that is subscribed to its journal
 * after the last record stored. Records are acknowledged once they are committed; where
 * the store cannot be written they stay in the journal and are asked for again. What it can
 * never take ends the run as failed: no run may hold up itself or another.
 */
import { GradwireError, toErrorData } from '../../shared/errors.ts';
import type { JournalEntry } from '../../shared/records.ts';
import { hasEnded, type RunSummary } from '../../shared/rpc.ts';
import type { RunStore, StoredBatch } from '../store/run-store.ts';
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
  /** A record of a run that may still go on could not be stored. */
  refused(summary: RunSummary): void;
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

  get ids(): readonly string[] {
    return [...this.#followers.keys()];
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

  dropAll(): void {
    for (const id of this.ids) this.drop(id);
  }

  close(): void {
    this.#closed = true;
    for (const retry of this.#retries) clearTimeout(retry);
    this.dropAll();
  }

  #makeFollower(link: NodeLink, id: string): Follower {
    let batch: StoredBatch | undefined;
    const follower: Follower = {
      target: Infinity,
      caughtUp: Promise.withResolvers(),
      intake: new RecordIntake(this.#store.lastSequence(id), {
        store: (entries) => {
          batch = this.#store.append(id, entries);
        },
        stored: (last) => {
          const { summary, entries, refusal } = batch!;
          this.acknowledge(link, id, last);
          if (last >= follower.target) follower.caughtUp.resolve();
          if (hasEnded(summary.state)) this.drop(id);
          this.#events.stored(summary, entries);
          if (refusal !== undefined && !hasEnded(summary.state)) {
            this.#events.refused(summary);
          }
        },
        failed: (error) => {
          this.drop(id);
          this.#giveUp(link, id, error);
        },
      }),
    };
    return follower;
  }

  /** Where the store cannot be written, for now; otherwise the run has failed. */
  #giveUp(link: NodeLink, id: string, error: unknown): void {
    try {
      if (isOfTheStore(error)) throw error;
      this.#events.stored(this.#store.fail(id, toErrorData(error), Date.now()), []);
    } catch (trouble) {
      this.#events.trouble(trouble);
      this.#followLater(link, id);
    }
  }

  /** The store could not be written, because the disk is full perhaps: try again. */
  #followLater(link: NodeLink, id: string): void {
    if (this.#closed) return;
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      this.#followAgain(link, id).catch((error: unknown) => {
        this.#events.trouble(error);
      });
    }, STORE_RETRY_MS);
    this.#retries.add(retry);
  }

  /** What the subscription until now still pushes would look like a gap to the next. */
  async #followAgain(link: NodeLink, id: string): Promise<void> {
    if (this.#followers.has(id)) return;
    await link.request('unsubscribe', { run: id });
    await this.follow(link, id);
  }
}

/** Whether the store is what is in trouble, and not what it was given. */
function isOfTheStore(error: unknown): boolean {
  return error instanceof GradwireError && error.code.startsWith('DATABASE_');
}
