/**
 * The page's copy of a run's merged log: reads stored lines page by page, adds new ones, and
 * reads missed ones. Sorted by time; keeps the newest lines.
 */
import { OneAtATime } from '../../../shared/async/one-at-a-time.ts';
import { toErrorData, type ErrorData } from '../../../shared/errors/errors.ts';
import type { JournalEntry } from '../../../shared/records/journal-entry.ts';
import { logLine, type LogLine } from '../../../shared/records/log-text.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import type { Connection } from '../host/host-connection.ts';

/** Lines kept; `gradwire runs log` has all. */
const MOST_LINES = 100_000;
/** Lines dropped at once, so that not every new line moves all others. */
const SLACK = 5000;

export class RunLog {
  readonly #run: string;
  readonly #api: AppApi;
  readonly #stops: readonly (() => void)[];
  #lines = $state.raw<readonly LogLine[]>([]);
  #leftOut = $state(0);
  #error = $state.raw<ErrorData>();
  /** The last record known to be a line or not. */
  #seen = 0;
  /** The last record that was pushed: whatever is read after that has all lines up to it. */
  #pushed = 0;
  readonly #reading = new OneAtATime(() => this.#read());
  #closed = false;

  constructor(connection: Connection, run: string) {
    this.#run = run;
    this.#api = connection.api;
    this.#stops = [
      connection.on('records', (id, entries) => {
        if (id === run) this.#take(entries);
      }),
      connection.on('resync', () => void this.#reading.run()),
    ];
    void this.#reading.run();
  }

  /** Lines by time, then in the order of arrival. */
  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** Number of oldest lines that have been dropped. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get error(): ErrorData | undefined {
    return this.#error;
  }

  close(): void {
    this.#closed = true;
    this.#reading.close();
    for (const stop of this.#stops) stop();
  }

  #take(entries: readonly JournalEntry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    this.#pushed = Math.max(this.#pushed, entries.at(-1)!.sequence);
    if (this.#reading.isRunning || first.sequence > this.#seen + 1) {
      void this.#reading.run();
      return;
    }
    this.#add(entries);
    this.#seen = Math.max(this.#seen, entries.at(-1)!.sequence);
  }

  async #read(): Promise<void> {
    const pushed = this.#pushed;
    try {
      const read = await this.#readPages();
      this.#add(read);
      this.#seen = Math.max(this.#seen, pushed, read.at(-1)?.sequence ?? 0);
      this.#error = undefined;
    } catch (error) {
      const data = toErrorData(error);
      // This is repeated when the connection reports that it is back.
      if (data.code !== 'CONNECTION_LOST') this.#error = data;
    }
  }

  /** Reads everything after the last seen record; sorts and draws it once. */
  async #readPages(): Promise<readonly JournalEntry[]> {
    const read: JournalEntry[] = [];
    for (;;) {
      const after = read.at(-1)?.sequence ?? this.#seen;
      const page = await this.#api.runLog(this.#run, after);
      if (page.length === 0 || this.#closed) return read;
      read.push(...page);
    }
  }

  #add(entries: readonly JournalEntry[]): void {
    const fresh = entries
      .filter(({ sequence }) => sequence > this.#seen)
      .flatMap((entry) => logLine(entry) ?? []);
    if (fresh.length === 0) return;
    const lines = [...this.#lines, ...fresh].sort(
      (a, b) => a.at - b.at || a.sequence - b.sequence,
    );
    const excess = lines.length > MOST_LINES + SLACK ? lines.length - MOST_LINES : 0;
    this.#leftOut += excess;
    this.#lines = excess === 0 ? lines : lines.slice(excess);
  }
}
