/**
 * The followed runs, by node: each node's journal has an intake, subscribed after the last
 * stored record. Records are acknowledged once they are committed; if the store cannot be
 * written, they stay in the journal and are requested again. A record that can never be
 * stored fails its run, so that no run holds up itself or another.
 */
import { CATCH_UP_MINIMUM } from '../../shared/records/catch-up.ts';
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import type { RunStatus } from '../../shared/protocol/supervisor.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { CoordinatorParts } from './coordinator-parts.ts';
import type { NodeLink } from '../cluster/node-link.ts';
import type { Moment } from '../store/run-alerts.ts';
import type { StoredBatch } from '../store/run-store.ts';
import { relayMissed } from './other-nodes.ts';
import { RecordIntake } from './record-intake.ts';

const STORE_RETRY_MS = 2000;

/** The follower of one node's journal. */
interface Follower {
  readonly link: NodeLink;
  readonly intake: RecordIntake;
  /** The journal's end at the time of subscription. */
  target: number;
  readonly caughtUp: PromiseWithResolvers<void>;
  isCaughtUp: boolean;
  /** Records stored so far, and those reported missing. */
  records: number;
  missing: number;
}

export class RunFollowers {
  readonly #parts: CoordinatorParts;
  /** Followers by run and node. */
  readonly #followers = new Map<string, Map<string, Follower>>();
  /** The last sequence that was passed on, for followed runs and others. */
  readonly #seen = new Map<string, number>();
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

  push(link: NodeLink, id: string, entries: readonly JournalEntry[]): void {
    this.#followers.get(id)?.get(link.name)?.intake.push(entries);
  }

  /** Resolves once the journal is subscribed to; at once if it is already followed. */
  async follow(link: NodeLink, id: string): Promise<void> {
    if (this.has(id, link)) return;
    const follower = this.#makeFollower(link, id);
    if (!this.has(id)) this.#followers.set(id, new Map());
    this.#followers.get(id)!.set(link.name, follower);
    if (this.#seen.has(id)) this.tellRest(id);
    else this.#seen.set(id, this.#parts.store.lastSequence(id));
    try {
      const { lastSequence } = await link.request('subscribe', {
        run: id,
        after: follower.intake.stored,
      });
      follower.target = lastSequence;
      this.#noteProgress(id, follower);
    } catch (error) {
      follower.caughtUp.resolve();
      if (this.#followers.get(id)?.get(link.name) === follower) {
        this.#forget(id, link.name);
      }
      if (!hasEnded(this.#parts.store.summary(id).state)) throw error;
      // It ended before the supervisor was asked, and another process stored its end.
      this.tellRest(id);
    }
  }

  /**
   * A journal has ended. If it is shorter than what is stored of it, its closing record is
   * the next one that is stored.
   */
  ended(link: NodeLink, { run, lastSequence, ending }: RunStatus): void {
    const intake = this.#followers.get(run)?.get(link.name)?.intake;
    intake?.flush();
    if (intake === undefined || intake.stored < lastSequence) return;
    if (!this.has(run, link) || !this.#isOpen(run, link)) return;
    const record = ending ?? { type: 'failed', at: Date.now(), error: endUnknown() };
    intake.push([{ sequence: intake.stored + 1, record }]);
    intake.flush();
  }

  /** Passes on records that another process has stored since the last call. */
  tellRest(id: string): void {
    for (;;) {
      const summary = this.#parts.store.summary(id);
      const entries = this.#parts.store.reads.entriesAfter(
        id,
        this.#seen.get(id) ?? Infinity,
      );
      this.#tell(id, { summary, entries });
      if (entries.length === 0) return;
    }
  }

  /**
   * Resolves when each has stored what its journal held at the time of subscription.
   */
  async caughtUp(): Promise<void> {
    const all = [...this.#followers.values()].flatMap((of) => [...of.values()]);
    await Promise.all(all.map(({ caughtUp }) => caughtUp.promise));
  }

  acknowledge(link: NodeLink, run: string, sequence: number): void {
    link.connection
      ?.request('acknowledge', { run, sequence })
      .catch((error: unknown) => {
        // An acknowledgement lost with its connection is repeated later, or by the next
        // recovery.
        if (!(error instanceof GradwireError)) throw error;
      });
  }

  /**
   * Ends a run with the journals that have ended, because the others cannot be reached.
   */
  endEarly(id: string): void {
    this.#tell(id, this.#parts.store.endEarly(id, { seen: this.#seen.get(id) }));
  }

  /** Lets the rules of alerts look at the followed runs. */
  look(moment: Moment): void {
    for (const id of this.ids()) {
      this.#tell(id, this.#parts.store.look(id, moment, { seen: this.#seen.get(id) }));
    }
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

  #dropFollower(id: string, follower: Follower): void {
    follower.intake.close();
    follower.caughtUp.resolve();
    this.#forget(id, follower.link.name);
  }

  #forget(id: string, node: string): void {
    const followers = this.#followers.get(id);
    followers?.delete(node);
    if (followers?.size !== 0) return;
    this.#followers.delete(id);
  }

  /** Later records come after these. */
  #tell(
    id: string,
    { summary, entries }: Pick<StoredBatch, 'summary' | 'entries'>,
  ): void {
    const last = entries.at(-1);
    if (last !== undefined && this.#seen.has(id)) this.#seen.set(id, last.sequence);
    this.#parts.news.stored(summary, entries);
  }

  #makeFollower(link: NodeLink, id: string): Follower {
    let batch: StoredBatch | undefined;
    const follower: Follower = {
      link,
      target: Infinity,
      caughtUp: Promise.withResolvers(),
      isCaughtUp: false,
      records: 0,
      missing: 0,
      intake: new RecordIntake(this.#parts.store.journals.position(id, link.name), {
        store: (entries) => {
          const from = { node: link.name, seen: this.#seen.get(id) };
          batch = this.#parts.store.append(id, entries, from);
          if (follower.isCaughtUp) return;
          follower.records += entries.length;
          follower.missing += missingOf(link.name, batch.entries);
        },
        stored: (last) => {
          const { summary, entries, refusal } = batch!;
          this.acknowledge(link, id, last);
          this.#noteProgress(id, follower);
          // A node that was away may have more records of an ended run.
          if (hasEnded(summary.state) && !this.#isOpen(id, link)) this.drop(id, link);
          this.#tell(id, { summary, entries });
          if (entries.some(isGuardsSwitch)) this.#relaySwitches(id);
          if (refusal !== undefined && !hasEnded(summary.state)) {
            this.#parts.news.refused(summary);
          }
        },
        untold: (error) => {
          // When it is followed again, it passes on what was not.
          this.drop(id, link);
          this.#parts.news.trouble(error);
          this.#followLater(link, id);
        },
        failed: (error) => {
          this.drop(id, link);
          this.#giveUp(link, id, error);
        },
      }),
    };
    return follower;
  }

  /** A machine has planned a switch by itself: the others need to know of it. */
  #relaySwitches(id: string): void {
    const links = this.#parts.nodes.of(this.#parts.store.spec(id));
    relayMissed(links, id).catch((error: unknown) => {
      this.#parts.news.trouble(error);
    });
  }

  #noteProgress(id: string, follower: Follower): void {
    const { intake, link, missing, records, target } = follower;
    if (follower.isCaughtUp || intake.stored < target) return;
    follower.isCaughtUp = true;
    follower.caughtUp.resolve();
    if (records + missing < CATCH_UP_MINIMUM) return;
    const { name } = this.#parts.store.summary(id);
    this.#parts.news.caughtUp({ run: id, name, node: link.name, records, missing });
  }

  #isOpen(id: string, link: NodeLink): boolean {
    return this.#parts.store.journals.endings(id).open.includes(link.name);
  }

  /** Retries later if the store cannot be written now; otherwise the run has failed. */
  #giveUp(link: NodeLink, id: string, error: unknown): void {
    try {
      // Another process has purged it.
      if (!this.#parts.store.has(id)) return;
      if (isOfTheStore(error)) throw error;
      this.#parts.news.stored(
        this.#parts.store.fail(id, toErrorData(error), Date.now()),
        [],
      );
    } catch (trouble) {
      this.#parts.news.trouble(trouble);
      this.#followLater(link, id);
    }
  }

  /** The store could not be written, perhaps because the disk is full: try again. */
  #followLater(link: NodeLink, id: string): void {
    if (this.#closed) return;
    const retry = setTimeout(() => {
      this.#retries.delete(retry);
      this.#followAgain(link, id).catch((error: unknown) => {
        this.#parts.news.trouble(error);
      });
    }, STORE_RETRY_MS);
    this.#retries.add(retry);
  }

  /** Leftover pushes of the old subscription would look like a gap to the new one. */
  async #followAgain(link: NodeLink, id: string): Promise<void> {
    if (this.has(id, link)) return;
    await link.request('unsubscribe', { run: id });
    await this.follow(link, id);
  }
}

/** Records of a node's journal that are reported missing. */
const missingOf = (node: string, entries: readonly JournalEntry[]): number =>
  entries
    .map(({ record }) => record)
    .filter((record) => record.type === 'thinned' && record.node === node)
    .reduce((sum, record) => sum + (record.type === 'thinned' ? record.records : 0), 0);

/** The supervisor has an older version, which does not say it. */
const endUnknown = (): ErrorData =>
  failure('JOURNAL_DAMAGED', 'the journal of this run ends before its closing record', {
    next: 'Everything before is stored. Launch the run again.',
  }).toData();

/** Whether the store itself failed, not the record. */
function isOfTheStore(error: unknown): boolean {
  return error instanceof GradwireError && error.code.startsWith('DATABASE_');
}

const isGuardsSwitch = ({ record }: JournalEntry): boolean =>
  record.type === 'notice' && record.code === 'GUARD_SWITCHES_BACK';
