/** A run's journal and its followers, who are told of an entry once the disk has it. */
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../../shared/records/record-kinds.ts';
import { DurableFeed } from '../journal/durable-feed.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunListener } from './run-options.ts';

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
