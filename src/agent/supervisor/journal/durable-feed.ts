/**
 * Passes a journal's entries on once the disk has them: what an app has seen must not be gone after
 * a power cut, or a run that resumes would give the same numbers to other records, which the
 * app takes for known. One request to the disk covers all entries that wait, at most ten a
 * second, whatever a run records.
 * Upholds invariant I10 (docs/architecture.md).
 */
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';

/** Time between the beginnings of two requests to the disk. */
const PAUSE_MS = 100;

export interface DurableFeedOptions {
  /** Resolves when the disk has everything that was pushed before. */
  sync(): Promise<void>;
  pass(entries: readonly JournalEntry[]): void;
  /** The disk refused; what waits is passed on when the run ends. */
  failed(error: unknown): void;
  readonly pauseMs?: number | undefined;
}

/** Entries, or what may happen once those before have been passed on. */
type Waiting = readonly JournalEntry[] | (() => void);

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
    const { pauseMs = PAUSE_MS } = this.#options;
    const left = this.#begun + pauseMs - performance.now();
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
