/**
 * The page's memory of a run: the last iterations one by one, the whole run in bins over all
 * ranks, and windows of bins that were read for a view (a part of the run, or one rank).
 * `bins()` serves every chart: the mean of each quantity per bin, over all ranks or for one,
 * from whichever of them has the requested resolution. Its cost is O(bins · ranks · fields),
 * whatever the length of the run.
 *
 * Each record is in the bins once: what was read as bins has all records up to a sequence, so
 * records that come on their own are added if theirs is later.
 */
import {
  addCells,
  CELL_COUNT,
  clearCells,
} from '../../../shared/records/chart-cells.ts';
import { FIELD_COUNT, writeRow } from '../../../shared/records/chart-fields.ts';
import type { IterationRecord } from '../../../shared/records/iteration.ts';
import type { BinsPiece, BinsQuery } from '../../../shared/rpc/run-pieces.ts';
import { binWidth } from '../../../shared/numbers/bin-width.ts';
import { BinWindows, cellsOf, type BinWindow } from './bin-window.ts';
import { binOf, type Bin } from './bin.ts';
import { BinnedHistory } from './binned-history.ts';
import { RecentBins } from './recent-bins.ts';
import { Arrivals } from '../../../shared/verdict/arrivals.ts';
import { RecentIterations } from '../../../shared/verdict/recent-iterations.ts';

export interface BinQuery {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Most bars or points. */
  readonly limit: number;
  /** Default: the mean over all ranks. */
  readonly rank?: number | undefined;
}

/** Bins that a chart needs, and for what: of the same purpose, only the latest are needed. */
export interface WantedBins extends BinsQuery {
  readonly purpose: string;
  /** Whether they end with what is held, which moves on with the run. */
  readonly isOpen: boolean;
}

/** Bins that are read beside those needed, on both sides, so that moving needs no others. */
const MARGIN = 64;

/** Rows kept at full resolution, over all ranks. */
const ROWS = 65_536;

export class RunHistory {
  readonly ranks: number;
  readonly recent: RecentIterations;
  readonly arrivals: Arrivals;
  readonly #recentBins: RecentBins;
  readonly #whole = new BinnedHistory();
  readonly #windows: BinWindows;
  readonly #row = new Float64Array(FIELD_COUNT);
  readonly #want: (wanted: WantedBins) => void;
  /** Pieces that were read into the whole, by the iteration after their last one. */
  #pieces: readonly { readonly to: number; readonly sequence: number }[] = [];
  /** The first iteration from which on all stored records of iterations were added one by one. */
  #fullFrom = 0;

  /** @param want called for bins that a chart needs and that are not here, until they are put */
  constructor(ranks: number, want: (wanted: WantedBins) => void = () => undefined) {
    this.ranks = ranks;
    this.#want = want;
    const perRank = Math.max(128, Math.min(4096, Math.floor(ROWS / ranks)));
    this.recent = new RecentIterations(ranks, perRank);
    this.arrivals = new Arrivals(this.recent);
    this.#recentBins = new RecentBins(this.recent);
    this.#windows = new BinWindows(ranks);
  }

  /** Iterations that the axis must hold: one more than the newest one's number. */
  get length(): number {
    return this.recent.newest + 1;
  }

  /** Iterations finished by every rank. */
  get completeLength(): number {
    return this.recent.newestComplete + 1;
  }

  /** The first iteration of those that are held one by one. */
  get heldFrom(): number {
    return Math.max(this.recent.oldest, this.#fullFrom);
  }

  /** The width of bins that a run of this many iterations has here. */
  widthFor(iterations: number): number {
    this.#whole.reach(Math.max(0, iterations - 1));
    return this.#whole.width;
  }

  /**
   * Adds what the store has of a part of the run, which has not been added.
   * @param query over all ranks
   */
  addPiece({ to, width }: BinsQuery, piece: BinsPiece): void {
    const cells = cellsOf(piece);
    for (const [index, start] of piece.starts.entries()) {
      this.#whole.addBin(start, width, cells, index * CELL_COUNT);
    }
    const end = piece.next ?? to;
    this.#pieces = [...this.#pieces, { to: end, sequence: piece.lastSequence }];
  }

  /** Notes that stored records are added one by one from this iteration on. */
  readsFrom(iteration: number): void {
    this.#fullFrom = iteration;
  }

  /**
   * Adds a record; a duplicate changes nothing. A record older than those at full
   * resolution must come at most once, which holds because only the store sends these.
   * @param sequence of the record; default: later than everything that was read
   */
  add(record: IterationRecord, sequence = Infinity): void {
    const added = this.recent.add(record);
    if (added === 'duplicate') return;
    const { iteration, rank } = record;
    const piece = this.#pieces.find(({ to }) => iteration < to);
    if (piece !== undefined && sequence <= piece.sequence) return;
    if (added === 'too-old') {
      writeRow(record, this.#row);
      this.#whole.addRow(iteration, this.#row, 0);
    } else {
      const { rows } = this.recent;
      this.#whole.addRow(iteration, rows, this.recent.placeOf(iteration, rank));
    }
  }

  /** Bins were read that a chart wanted. */
  put(window: BinWindow): void {
    this.#windows.put(window);
  }

  /**
   * Bins without an observation are left out. Edges are multiples of a power of two, but no bin
   * goes beyond the run: what is drawn and averaged counts its iterations.
   */
  bins(query: BinQuery): Bin[] {
    const from = Math.max(0, query.from);
    const to = Math.min(query.to, this.length);
    if (to <= from) return [];
    const { rank } = query;
    const width = binWidth(to - from, query.limit);
    const held = this.heldFrom;
    if (from >= held) return this.#recentBins.bins({ from, to, width, rank });
    if (rank === undefined && width >= this.#whole.width) {
      return this.#wholeBins(from, to, width);
    }
    const first = Math.floor(from / width) * width;
    // Bins that lie in the recent iterations as a whole are made of those.
    const end = Math.min(Math.ceil(held / width), Math.ceil(to / width)) * width;
    const wanted = { from: first, to: end, width, rank };
    const window = this.#windows.find(wanted);
    const isStale =
      window !== undefined && Math.min(end, this.completeLength) > window.complete;
    if (window === undefined || isStale) {
      const room = MARGIN * width;
      const from = Math.max(0, Math.floor(first / room) * room);
      const before = Math.max(end, Math.floor(held / width) * width);
      const to = Math.min(before, Math.ceil(end / room) * room);
      const purpose = `${rank} ${query.limit}`;
      this.#want({ from, to, width, rank, purpose, isOpen: to === before });
    }
    if (window !== undefined) {
      const rest =
        end < to ? this.#recentBins.bins({ from: end, to, width, rank }) : [];
      return [...this.#withinRun(window.bins(first, end)), ...rest];
    }
    return rank === undefined
      ? this.#wholeBins(from, to, this.#whole.width)
      : this.heldBins(query);
  }

  /** Bins of the recent iterations alone, of those that the query asks for. */
  heldBins(query: BinQuery): Bin[] {
    const to = Math.min(query.to, this.length);
    const width = binWidth(to - Math.max(0, query.from), query.limit);
    const from = Math.max(query.from, this.heldFrom);
    const { rank } = query;
    return to <= from ? [] : this.#recentBins.bins({ from, to, width, rank });
  }

  #wholeBins(from: number, to: number, width: number): Bin[] {
    const whole = this.#whole;
    const merged = width / whole.width;
    const bins: Bin[] = [];
    const cells = new Float64Array(CELL_COUNT);
    for (let start = Math.floor(from / width) * width; start < to; start += width) {
      const first = start / whole.width;
      const end = Math.min(first + merged, whole.length);
      clearCells(cells, 0);
      for (let bin = first; bin < end; bin++) {
        addCells(cells, 0, whole.cells, bin * CELL_COUNT);
      }
      const bin = binOf({ from: start, to: start + width }, cells, 0, this.ranks);
      if (bin !== undefined) bins.push(bin);
    }
    return this.#withinRun(bins);
  }

  #withinRun(bins: Iterable<Bin>): Bin[] {
    return Array.from(bins, (bin) =>
      bin.to <= this.length ? bin : { ...bin, to: this.length },
    );
  }
}
