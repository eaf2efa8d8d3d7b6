/**
 * Stores pushed records of one run: gathers them into batches (at most 100 ms or 500
 * records), stores each in one transaction, then reports it stored. Delivery is
 * at-least-once: repeated records are skipped. A gap is an error, unless the journal
 * declares that it left these records out.
 * Upholds invariant I9 (docs/architecture.md).
 */
import {
  leftOutBefore,
  type JournalEntry,
} from '../../shared/records/journal-entry.ts';
import { recordsMissing } from '../store/journal-progress.ts';

const BATCH_PAUSE_MS = 100;
const BATCH_RECORDS = 500;

export interface IntakeOutlet {
  /** Stores a batch; throws when it cannot. */
  store(entries: readonly JournalEntry[]): void;
  /** A batch has been stored; its last sequence may be acknowledged. */
  stored(last: number): void;
  /** `stored` threw: the batch is stored, but not everybody knows. */
  untold(error: unknown): void;
  /**
   * A batch could not be stored and was dropped here (it is still in the journal), or
   * records are missing (`RECORDS_MISSING`). Nothing more is accepted; to retry, start a
   * new intake after the last stored record.
   */
  failed(error: unknown): void;
}

export class RecordIntake {
  readonly #outlet: IntakeOutlet;
  #received: number;
  #stored: number;
  #batch: JournalEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** @param stored the last stored sequence */
  constructor(stored: number, outlet: IntakeOutlet) {
    this.#received = stored;
    this.#stored = stored;
    this.#outlet = outlet;
  }

  /** The last sequence that has been stored. */
  get stored(): number {
    return this.#stored;
  }

  push(entries: readonly JournalEntry[]): void {
    if (this.#closed) return;
    for (const entry of entries) {
      if (entry.sequence <= this.#received) continue;
      if (leftOutBefore(entry, this.#received) === undefined) {
        this.flush();
        this.#fail(recordsMissing(this.#received, entry.sequence));
        return;
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
    const batch = this.#batch;
    const last = batch.at(-1);
    if (last === undefined) return;
    this.#batch = [];
    try {
      this.#outlet.store(batch);
    } catch (error) {
      this.#fail(error);
      return;
    }
    this.#stored = last.sequence;
    // From a timer an error would end this process; from a connection's data, the connection.
    try {
      this.#outlet.stored(last.sequence);
    } catch (error) {
      this.#outlet.untold(error);
    }
  }

  /** Stores what is waiting and accepts no more. */
  close(): void {
    this.flush();
    this.#closed = true;
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#batch = [];
    this.#closed = true;
    this.#outlet.failed(error);
  }
}
