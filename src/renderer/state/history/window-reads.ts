/**
 * Bins that charts need and the page does not have: each window is read once at a time, and
 * not again before a pause, because a run in progress adds to it with every record.
 */
import type { BinsQuery } from '../../../shared/rpc/run-pieces.ts';
import type { RunHistory } from './run-history.ts';
import type { StoredRun } from './stored-run.ts';

const PAUSE_MS = 1000;

/** The parts of a page that reads of windows report to. */
interface WindowReader {
  /** A window is part of the history now. */
  onread(): void;
  /** A window was wanted again while it was being read, or in the pause. */
  onwanted(): void;
  onerror(error: unknown): void;
}

export class WindowReads {
  readonly #stored: StoredRun;
  readonly #reader: WindowReader;
  /** Windows that are being read, or were just read, and whether they are wanted again. */
  #wanted: Readonly<Partial<Record<string, 'read' | 'again'>>> = {};
  /** Pauses before a window may be read again. */
  #pauses: readonly ReturnType<typeof setTimeout>[] = [];
  #closed = false;

  constructor(stored: StoredRun, reader: WindowReader) {
    this.#stored = stored;
    this.#reader = reader;
  }

  close(): void {
    this.#closed = true;
    for (const pause of this.#pauses) clearTimeout(pause);
  }

  /** A chart needs bins that are not here; it is drawn again when they are. */
  want(history: RunHistory, query: BinsQuery): void {
    const key = `${query.rank} ${query.width} ${query.from}`;
    if (this.#wanted[key] !== undefined) {
      this.#wanted = { ...this.#wanted, [key]: 'again' };
      return;
    }
    this.#wanted = { ...this.#wanted, [key]: 'read' };
    void this.#read(history, query).finally(() => {
      if (this.#closed) return;
      const pause = setTimeout(() => {
        this.#pauses = this.#pauses.filter((other) => other !== pause);
        const { [key]: state, ...others } = this.#wanted;
        this.#wanted = others;
        if (state === 'again') this.#reader.onwanted();
      }, PAUSE_MS);
      this.#pauses = [...this.#pauses, pause];
    });
  }

  async #read(history: RunHistory, query: BinsQuery): Promise<void> {
    try {
      const { completeLength, ranks } = history;
      const window = await this.#stored.window(query, ranks, completeLength);
      if (this.#closed) return;
      history.put(window);
      this.#reader.onread();
    } catch (error) {
      this.#reader.onerror(error);
    }
  }
}
