/**
 * Reads a run from the store, answer by answer: records of some iterations, bins of some part,
 * and what the page of a run begins with. Reading ends when the page leaves the run.
 */
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import type { AppApi } from '../../../shared/rpc/rpc.ts';
import {
  MOST_ITERATION_RECORDS,
  type BinsPiece,
  type BinsQuery,
  type IterationPlace,
  type IterationsPiece,
} from '../../../shared/rpc/run-pieces.ts';
import type { RunDetail } from '../../../shared/rpc/run-summary.ts';
import { BinWindow } from './bin-window.ts';
import { RunHistory, type WantedBins } from './run-history.ts';

/** Iterations read at full resolution when a run is opened, and records at most. */
const FULL_RESOLUTION = 512;
export const FULL_RECORDS = 8192;

export interface IterationEntry {
  readonly sequence: number;
  readonly record: IterationRecord;
}

export class StoredRun {
  readonly #api: AppApi;
  readonly #run: string;
  #closed = false;

  constructor(api: AppApi, run: string) {
    this.#api = api;
    this.#run = run;
  }

  close(): void {
    this.#closed = true;
  }

  /**
   * The whole run in bins, and its newest iterations one by one.
   * @param want as `RunHistory` takes it
   */
  async history(
    { iterations, lastSequence, ranks }: RunDetail,
    want: (history: RunHistory, wanted: WantedBins) => void,
  ): Promise<RunHistory> {
    const history: RunHistory = new RunHistory(ranks, (wanted) =>
      want(history, wanted),
    );
    const width = history.widthFor(iterations);
    const query = { from: 0, to: Number.MAX_SAFE_INTEGER, width };
    const full = Math.min(FULL_RESOLUTION, Math.ceil(FULL_RECORDS / ranks));
    const from = Math.max(0, iterations - full);
    const readWhole = async (): Promise<void> => {
      for await (const piece of this.#bins(query)) history.addPiece(query, piece);
    };
    // Asked for together: while one is read here, main makes the other.
    const [recent] = await Promise.all([
      this.iterations(from, lastSequence),
      readWhole(),
    ]);
    history.readsFrom(from);
    for (const { record, sequence } of recent) history.add(record, sequence);
    return history;
  }

  /**
   * Records of an iteration and all later ones, up to a sequence. There may be later ones among them, but
   * reading ends even if a run adds records faster than they are read.
   */
  async iterations(from: number, until: number): Promise<readonly IterationEntry[]> {
    const entries: IterationEntry[] = [];
    // The first iteration without a record up to `until`. A rank's records come in order, so none
    // of the later ones has one, once it has been read whole.
    let newer = from;
    let next: IterationPlace | undefined = { from };
    while (next !== undefined && next.from <= newer && !this.#closed) {
      const range = {
        ...next,
        to: Number.MAX_SAFE_INTEGER,
        most: MOST_ITERATION_RECORDS,
      };
      const piece: IterationsPiece = await this.#api.iterations(this.#run, range);
      for (const { record, sequence } of piece.entries) {
        if (record.type !== 'iteration') continue;
        entries.push({ record, sequence });
        if (sequence <= until) newer = record.iteration + 1;
      }
      ({ next } = piece);
    }
    return entries;
  }

  /** Records of the iterations of a part, of all ranks that have one. */
  async part({
    from,
    to,
  }: Pick<BinsQuery, 'from' | 'to'>): Promise<readonly IterationRecord[]> {
    const records: IterationRecord[] = [];
    let next: IterationPlace | undefined = { from };
    while (next !== undefined && !this.#closed) {
      const range = { ...next, to, most: MOST_ITERATION_RECORDS };
      const piece: IterationsPiece = await this.#api.iterations(this.#run, range);
      for (const { record } of piece.entries) {
        if (record.type === 'iteration') records.push(record);
      }
      ({ next } = piece);
    }
    return records;
  }

  /**
   * Bins of a part.
   * @param complete iterations that all ranks have finished
   */
  async window(query: BinsQuery, ranks: number, complete: number): Promise<BinWindow> {
    const window = new BinWindow(query, ranks, complete);
    for await (const piece of this.#bins(query)) window.add(piece);
    return window;
  }

  async *#bins(query: BinsQuery): AsyncGenerator<BinsPiece> {
    let from: number | undefined = query.from;
    while (from !== undefined && !this.#closed) {
      const piece: BinsPiece = await this.#api.bins(this.#run, { ...query, from });
      yield piece;
      from = piece.next;
    }
  }
}
