/**
 * Reads of bins that charts want and the page does not have: one at a time, and of those that
 * wait the latest for each purpose, so that turning a wheel quickly asks for what is shown at
 * last and for little else. Bins that were just read are read again only after a pause, because
 * a run in progress adds to them with every record.
 */
import type { RunHistory, WantedBins } from './run-history.ts';
import type { StoredRun } from './stored-run.ts';

/** Pause before the same bins are read again. */
const PAUSE_MS = 1000;

/** The parts of a page that reads of windows report to. */
interface WindowReader {
  /** A window is part of the history now. */
  onread(): void;
  /** A window was wanted again in the pause. */
  onwanted(): void;
  onerror(error: unknown): void;
}

interface Wanted {
  readonly history: RunHistory;
  readonly wanted: WantedBins;
}

/** Bins that are the same, but for what a run in progress has added. */
const keyOf = ({ from, isOpen, rank, to, width }: WantedBins): string =>
  `${rank} ${width} ${from} ${isOpen ? '' : to}`;

export class WindowReads {
  readonly #stored: Pick<StoredRun, 'window'>;
  readonly #reader: WindowReader;
  /** Bins that wait to be read, by their purpose. */
  readonly #waiting = new Map<string, Wanted>();
  #current: string | undefined;
  /** Bins that were just read, and whether they are wanted again. */
  readonly #resting = new Map<
    string,
    { readonly timer: ReturnType<typeof setTimeout>; isWanted: boolean }
  >();
  #closed = false;

  constructor(stored: Pick<StoredRun, 'window'>, reader: WindowReader) {
    this.#stored = stored;
    this.#reader = reader;
  }

  /** A chart needs bins that are not here; it is drawn again when they are. */
  want(history: RunHistory, wanted: WantedBins): void {
    const key = keyOf(wanted);
    const resting = this.#resting.get(key);
    if (resting !== undefined) resting.isWanted = true;
    else if (key === this.#current) this.#waiting.delete(wanted.purpose);
    else this.#waiting.set(wanted.purpose, { history, wanted });
    void this.#readAll();
  }

  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    for (const { timer } of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
  }

  async #readAll(): Promise<void> {
    if (this.#current !== undefined) return;
    // Those that come meanwhile are at its end.
    for (const [purpose, next] of this.#waiting) {
      this.#waiting.delete(purpose);
      const key = keyOf(next.wanted);
      this.#current = key;
      await this.#read(next);
      this.#current = undefined;
      if (this.#closed) return;
      this.#rest(key);
    }
  }

  async #read({ history, wanted }: Wanted): Promise<void> {
    try {
      const { completeLength, ranks } = history;
      const { from, rank, to, width } = wanted;
      const query = { from, to, width, rank };
      const window = await this.#stored.window(query, ranks, completeLength);
      if (this.#closed) return;
      history.put(window);
      this.#reader.onread();
    } catch (error) {
      this.#reader.onerror(error);
    }
  }

  #rest(key: string): void {
    const timer = setTimeout(() => {
      const { isWanted } = this.#resting.get(key)!;
      this.#resting.delete(key);
      if (isWanted) this.#reader.onwanted();
    }, PAUSE_MS);
    this.#resting.set(key, { timer, isWanted: false });
  }
}
