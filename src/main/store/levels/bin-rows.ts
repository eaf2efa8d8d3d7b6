/**
 * Bins of iterations with their cells (`chart-cells.ts`), by the bin's first iteration and, where
 * ranks are apart, by rank. Adding a row or the cells of a narrower bin is O(fields).
 */
import {
  addCells,
  addRow,
  CELL_COUNT,
  clearCells,
} from '../../../shared/records/chart-cells.ts';
import type { BinsPiece } from '../../../shared/rpc/run-pieces.ts';

/** More than a run may have ranks. */
const MOST_RANKS = 4096;
const FIRST_CAPACITY = 64;

/** A bin of a rank, or of all of them, and where its cells begin. */
export interface BinPlace {
  readonly start: number;
  readonly rank: number;
  readonly at: number;
}

export class BinRows {
  /** Iterations of a bin: a power of two. */
  readonly width: number;
  readonly #places = new Map<number, number>();
  #cells = new Float64Array(FIRST_CAPACITY * CELL_COUNT);

  constructor(width: number) {
    this.width = width;
  }

  get length(): number {
    return this.#places.size;
  }

  get cells(): Float64Array {
    return this.#cells;
  }

  /** @param rank 0, if ranks are not apart */
  addRow(iteration: number, rank: number, row: Float64Array): void {
    const at = this.#at(iteration, rank);
    addRow(this.#cells, at, row);
  }

  /** @param start the first iteration of a bin that lies in one of these */
  addCells(start: number, rank: number, cells: Float64Array, from: number): void {
    const at = this.#at(start, rank);
    addCells(this.#cells, at, cells, from);
  }

  /** @param rank the rank that they are of here; default: as they are there */
  addAll(other: BinRows, rank?: number): void {
    for (const bin of other.sorted()) {
      this.addCells(bin.start, rank ?? bin.rank, other.cells, bin.at);
    }
  }

  /** Returns the bins by rank and iteration: a rank's values resemble each other. */
  sorted(): readonly BinPlace[] {
    return [...this.#places]
      .map(([key, at]) => ({
        start: Math.floor(key / MOST_RANKS) * this.width,
        rank: key % MOST_RANKS,
        at,
      }))
      .sort((a, b) => a.rank - b.rank || a.start - b.start);
  }

  /** Returns the bins as a page gets them; what is not finite is null. */
  plain(): Pick<BinsPiece, 'starts' | 'cells'> {
    const starts: number[] = [];
    const cells: (number | null)[] = [];
    for (const { at, start } of this.sorted()) {
      starts.push(start);
      for (const value of this.#cells.subarray(at, at + CELL_COUNT)) {
        cells.push(Number.isFinite(value) ? value : null);
      }
    }
    return { starts, cells };
  }

  #at(iteration: number, rank: number): number {
    const key = Math.floor(iteration / this.width) * MOST_RANKS + rank;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const at = this.#places.size * CELL_COUNT;
    if (at === this.#cells.length) {
      const larger = new Float64Array(2 * at);
      larger.set(this.#cells);
      this.#cells = larger;
    }
    clearCells(this.#cells, at);
    this.#places.set(key, at);
    return at;
  }
}
