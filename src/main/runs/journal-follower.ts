/**
 * Follows the journal of a run on one machine: gathers pushed entries into batches (at most
 * 100 ms or 500 entries), stores each in one transaction, acknowledges it and tells it.
 * Delivery is at-least-once: repeated records are skipped. A gap is an error, unless the
 * journal declares that it left these records out, or another process has stored them.
 * Upholds invariant I9 (docs/architecture.md).
 */
import { CATCH_UP_MINIMUM } from '../../shared/records/catch-up.ts';
import { GradwireError } from '../../shared/errors/errors.ts';
import type { RequestMessage } from '../../shared/protocol/supervisor.ts';
import {
  leftOutBefore,
  type JournalEntry,
} from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import { recordsMissing } from '../store/journal-progress.ts';
import type { StoredBatch } from '../store/record-writer.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import { relayMissed } from './other-nodes.ts';

const BATCH_PAUSE_MS = 100;
const BATCH_RECORDS = 500;

export interface FollowerEnds {
  /** The journal has been stored to its end. */
  over(): void;
  /** A batch is stored, but telling its listeners failed. */
  untold(error: unknown): void;
  /**
   * A batch could not be stored and was dropped here (it is still in the journal), or
   * records are missing (`RECORDS_MISSING`). Nothing more is accepted; to retry, follow the
   * journal anew after the last stored record.
   */
  failed(error: unknown): void;
}

export class JournalFollower {
  readonly link: NodeLink;
  readonly #run: string;
  readonly #parts: Pick<CoordinatorParts, 'news' | 'nodes' | 'store'>;
  readonly #ends: FollowerEnds;
  readonly #caughtUp = Promise.withResolvers<undefined>();
  #received: number;
  #stored: number;
  #batch: JournalEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #isSubscribed = false;
  /** The journal's end at the time of subscription. */
  #target = Infinity;
  #isCaughtUp = false;
  /** Numbers of records stored, and reported missing, until the follower had caught up. */
  #records = 0;
  #missing = 0;

  constructor(
    parts: Pick<CoordinatorParts, 'news' | 'nodes' | 'store'>,
    run: string,
    link: NodeLink,
    ends: FollowerEnds,
  ) {
    this.#parts = parts;
    this.#run = run;
    this.link = link;
    this.#ends = ends;
    this.#stored = parts.store.journals.position(run, link.name);
    this.#received = this.#stored;
  }

  /** The last sequence that has been stored. */
  get stored(): number {
    return this.#stored;
  }

  /** Resolves when it has stored what the journal held at the time of subscription. */
  get caughtUp(): Promise<unknown> {
    return this.#caughtUp.promise;
  }

  /** Resolves once the journal is subscribed to, after the last stored record. */
  async begin(): Promise<void> {
    const connection = await this.link.connect();
    this.#target = await connection.subscribe(this.#run, this.#stored, this);
    this.#noteProgress();
  }

  subscribed(): void {
    this.#isSubscribed = true;
  }

  push(entries: readonly JournalEntry[]): void {
    if (this.#closed) return;
    for (const entry of entries) {
      if (entry.sequence <= this.#received) continue;
      if (leftOutBefore(entry, this.#received) === undefined) {
        // Left from an earlier subscription, which had read further than the stored records.
        if (!this.#isSubscribed) return;
        this.flush();
        if (!this.#followsStored(entry)) return;
      }
      this.#received = entry.sequence;
      this.#batch.push(entry);
    }
    const last = this.#batch.at(-1)?.record.type;
    if (this.#batch.length >= BATCH_RECORDS || last === 'done' || last === 'failed') {
      this.flush();
    } else if (this.#batch.length > 0) {
      this.#timer ??= setTimeout(() => {
        this.flush();
      }, BATCH_PAUSE_MS);
    }
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const entries = this.#batch;
    const last = entries.at(-1);
    if (last === undefined) return;
    this.#batch = [];
    let batch: StoredBatch;
    try {
      batch = this.#store(entries);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#stored = last.sequence;
    // From a timer an error would end this process; from a connection's data, the connection.
    try {
      this.#tell(batch);
    } catch (error) {
      this.#ends.untold(error);
    }
  }

  /**
   * Whether an entry follows what is stored: another process may have stored the records in between,
   * and acknowledged them, so that the journal has them no longer. Fails otherwise.
   */
  #followsStored(entry: JournalEntry): boolean {
    if (this.#closed) return false;
    try {
      const stored = this.#parts.store.journals.position(this.#run, this.link.name);
      const before = Math.min(Math.max(stored, this.#received), entry.sequence - 1);
      if (leftOutBefore(entry, before) !== undefined) return true;
      this.#fail(recordsMissing(before, entry.sequence));
    } catch (error) {
      this.#fail(error);
    }
    return false;
  }

  /** Stores what is waiting and accepts no more. */
  close(): void {
    this.flush();
    this.#closed = true;
    this.#caughtUp.resolve(undefined);
    this.link.connection?.leave(this.#run, this);
  }

  #store(entries: readonly JournalEntry[]): StoredBatch {
    const { news, store } = this.#parts;
    const node = this.link.name;
    const seen = news.lastTold(this.#run);
    const batch = store.records.append(this.#run, entries, { node, seen });
    if (!this.#isCaughtUp) {
      this.#records += entries.length;
      this.#missing += missingOf(node, batch.entries);
    }
    return batch;
  }

  #tell(batch: StoredBatch): void {
    const { news, nodes, store } = this.#parts;
    const { summary, entries, refusal } = batch;
    acknowledge(this.link, this.#run, this.#stored);
    this.#noteProgress();
    const isOver = hasEnded(summary.state);
    // A node that was away may have more records of an ended run.
    if (isOver && !store.journals.isOpen(this.#run, this.link.name)) this.#ends.over();
    news.stored(batch);
    if (entries.some(isGuardsSwitch)) {
      // A machine has planned a switch by itself: the others need to know of it.
      relayMissed(nodes.of(store.spec(this.#run)), this.#run).catch(
        (error: unknown) => {
          news.trouble(error);
        },
      );
    }
    if (refusal !== undefined && !isOver) news.refused(summary);
  }

  #noteProgress(): void {
    if (this.#isCaughtUp || this.#stored < this.#target) return;
    this.#isCaughtUp = true;
    this.#caughtUp.resolve(undefined);
    const [records, missing] = [this.#records, this.#missing];
    if (records + missing < CATCH_UP_MINIMUM) return;
    const run = this.#run;
    const { name } = this.#parts.store.summary(run);
    const node = this.link.name;
    this.#parts.news.caughtUp({ run, name, node, records, missing });
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#batch = [];
    this.#closed = true;
    this.#ends.failed(error);
  }
}

/** Tells a machine that everything of a journal up to here is stored. */
export function acknowledge(link: NodeLink, run: string, sequence: number): void {
  // One that is lost with its connection is repeated later, or by the next recovery.
  tell(link, 'acknowledge', { run, sequence });
}

/** Tells a machine something of a journal, if it is connected; its answer changes nothing. */
export function tell<M extends 'acknowledge' | 'unsubscribe'>(
  link: NodeLink,
  method: M,
  body: RequestMessage<M>['body'],
): void {
  link.connection?.request(method, body).catch((error: unknown) => {
    if (!(error instanceof GradwireError)) throw error;
  });
}

/** Records of a node's journal that are reported missing. */
const missingOf = (node: string, entries: readonly JournalEntry[]): number =>
  entries
    .map(({ record }) => record)
    .filter((record) => record.type === 'thinned' && record.node === node)
    .reduce((sum, record) => sum + (record.type === 'thinned' ? record.records : 0), 0);

const isGuardsSwitch = ({ record }: JournalEntry): boolean =>
  record.type === 'notice' && record.code === 'GUARD_SWITCHES_BACK';
