/**
 * A run's journal and its followers, who are told of an entry once the disk has it: what an app has
 * seen must not be gone after a power cut, or a run that resumes would give the same numbers to
 * other records, which the app takes for known. One request to the disk covers all entries that
 * wait, at most ten a second, whatever a run records.
 * Upholds invariant I10 (docs/architecture.md).
 */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunListener } from './run-options.ts';

/** Time between the beginnings of two requests to the disk. */
const PAUSE_MS = 100;

export class FollowedJournal {
  readonly #journal: Journal;
  readonly #feed: DurableFeed;
  readonly #listeners = new Set<RunListener>();

  /** @param failed told that entries cannot be written */
  constructor(journal: Journal, failed: (error: ErrorData) => void) {
    this.#journal = journal;
    this.#feed = new DurableFeed({
      sync: () => journal.sync(),
      pass: (entries) => {
        this.#tell(entries);
      },
      failed: (error) => {
        failed(toErrorData(error));
      },
    });
  }

  follow(listener: RunListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** @returns the reason that they could not be appended, if any */
  append(records: readonly RunRecord[]): ErrorData | undefined {
    try {
      this.#feed.push(this.#journal.append(records));
      return undefined;
    } catch (error) {
      return toErrorData(error);
    }
  }

  /** Appends the last record and closes the journal; followers get it even if it cannot be written. */
  appendLast(last: RunRecord): void {
    try {
      this.#feed.push(this.#journal.append([last]));
      this.#journal.close();
      this.#feed.flush();
    } catch (cause) {
      const unwritten: RunRecord =
        last.type === 'failed'
          ? last
          : { type: 'failed', at: Date.now(), error: toErrorData(cause) };
      this.#feed.push([this.#journal.appendUnwritten(unwritten)]);
      this.#feed.flush();
    }
  }

  /** Tells followers that the run's state has changed, after the records that say so. */
  changed(): void {
    this.#feed.after(() => {
      for (const listener of this.#listeners) listener.changed();
    });
  }

  #tell(entries: readonly JournalEntry[]): void {
    for (const listener of this.#listeners) listener.entries(entries);
  }
}

export interface DurableFeedOptions {
  /** Resolves when the disk has everything that was pushed before. */
  sync(): Promise<void>;
  pass(entries: readonly JournalEntry[]): void;
  /** The disk refused; what waits is passed on when the run ends. */
  failed(error: unknown): void;
}

/** Entries, or what may happen once those before have been passed on. */
type Waiting = readonly JournalEntry[] | (() => void);

/** Entries on their way to the disk, and then to whoever follows. */
export class DurableFeed {
  readonly #options: DurableFeedOptions;
  #waiting: Waiting[] = [];
  #syncing = false;
  #failed = false;
  #timer: NodeJS.Timeout | undefined;
  #begun = -Infinity;

  constructor(options: DurableFeedOptions) {
    this.#options = options;
  }

  push(entries: readonly JournalEntry[]): void {
    if (entries.length === 0) return;
    this.#waiting.push(entries);
    this.#sync();
  }

  /** Calls it after all entries so far, at once if none waits. */
  after(action: () => void): void {
    if (this.#waiting.length === 0) action();
    else this.#waiting.push(action);
  }

  /** Passes everything on: the disk has it, or never will. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#passOn(this.#waiting.length);
  }

  #sync(): void {
    if (this.#syncing || this.#failed || this.#timer !== undefined) return;
    const left = this.#begun + PAUSE_MS - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.#syncNow();
      }, left);
    } else void this.#syncNow();
  }

  async #syncNow(): Promise<void> {
    const count = this.#waiting.length;
    if (count === 0) return;
    this.#syncing = true;
    this.#begun = performance.now();
    // They may have been flushed meanwhile.
    const covered = this.#waiting[count - 1];
    try {
      await this.#options.sync();
      this.#passOn(this.#waiting.indexOf(covered!) + 1);
    } catch (error) {
      this.#failed = true;
      this.#options.failed(error);
    } finally {
      this.#syncing = false;
    }
    if (this.#waiting.length > 0) this.#sync();
  }

  /** Passes on this many entries, and the calls that wait behind them, up to the next entry. */
  #passOn(count: number): void {
    let passed = 0;
    while (this.#waiting.length > 0) {
      const next = this.#waiting[0]!;
      if (typeof next !== 'function' && passed >= count) return;
      this.#waiting.shift();
      passed++;
      if (typeof next === 'function') next();
      else this.#options.pass(next);
    }
  }
}
