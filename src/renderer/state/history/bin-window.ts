/**
 * Bins that were read from the store for one view: a part of the run at a width, over all ranks
 * or of one. `BinWindows` keeps the last few, so that going back to a view costs nothing.
 */
import { CELL_COUNT, MAXIMA } from '../../../shared/records/chart-cells.ts';
import type { BinsPiece, BinsQuery } from '../../../shared/rpc/run-pieces.ts';
import { binOf, type Bin } from './bin.ts';

/** Windows that are kept beside one for each rank, whose small charts may all be shown. */
const BESIDE_RANKS = 96;

export class BinWindow {
  readonly query: BinsQuery;
  /** Iterations that all ranks had finished when it was read: later ones were not all there. */
  readonly complete: number;
  readonly #ranks: number;
  readonly #starts: number[] = [];
  readonly #cells: Float64Array[] = [];

  /** @param ranks of the run */
  constructor(query: BinsQuery, ranks: number, complete: number) {
    this.query = query;
    this.complete = complete;
    this.#ranks = query.rank === undefined ? ranks : 1;
  }

  add(piece: BinsPiece): void {
    const cells = cellsOf(piece);
    for (const [index, start] of piece.starts.entries()) {
      this.#starts.push(start);
      this.#cells.push(cells.subarray(index * CELL_COUNT, (index + 1) * CELL_COUNT));
    }
  }

  /** Bins with from ≤ start < to. */
  *bins(from: number, to: number): Generator<Bin> {
    for (const [index, start] of this.#starts.entries()) {
      if (start < from || start >= to) continue;
      const place = { from: start, to: start + this.query.width };
      const bin = binOf(place, this.#cells[index]!, 0, this.#ranks);
      if (bin !== undefined) yield bin;
    }
  }
}

/** The cells of a piece; those without a value are infinite, as nothing is in them. */
export function cellsOf({ cells }: BinsPiece): Float64Array {
  const plain = Float64Array.from(cells, (value) => value ?? Infinity);
  for (let at = 0; at < plain.length; at += CELL_COUNT) {
    for (let cell = MAXIMA; cell < CELL_COUNT; cell++) {
      if (plain[at + cell] === Infinity) plain[at + cell] = -Infinity;
    }
  }
  return plain;
}

export class BinWindows {
  readonly #most: number;
  #windows: readonly BinWindow[] = [];

  /** @param ranks of the run */
  constructor(ranks: number) {
    this.#most = ranks + BESIDE_RANKS;
  }

  /** A window with these bins; the one read last, if there are several. */
  find({ from, rank, to, width }: BinsQuery): BinWindow | undefined {
    return this.#windows.find(
      ({ query }) =>
        query.rank === rank &&
        query.width === width &&
        query.from <= from &&
        query.to >= to,
    );
  }

  put(window: BinWindow): void {
    this.#windows = [window, ...this.#windows].slice(0, this.#most);
  }
}
