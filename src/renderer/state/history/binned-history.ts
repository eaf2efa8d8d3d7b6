/**
 * A whole run over all ranks in bounded memory: at most `capacity` bins, each with the cells of
 * the records that fell into it. When the last bin is full, neighbours merge and the width
 * doubles, so that adding stays O(fields) amortised and a run of a million iterations costs
 * the same as one of two thousand. Means are exact; extremes of the banded fields are kept,
 * so that averaging does not hide tails.
 */
import {
  addCells,
  addRow,
  CELL_COUNT,
  clearCells,
} from '../../../shared/records/chart-cells.ts';

export class BinnedHistory {
  readonly capacity: number;
  readonly cells: Float64Array;
  #width = 1;
  #used = 0;

  /** @param capacity an even number of bins */
  constructor(capacity = 2000) {
    if (capacity % 2 !== 0) throw new Error(`internal: ${capacity} bins`);
    this.capacity = capacity;
    this.cells = new Float64Array(capacity * CELL_COUNT);
    clearCells(this.cells, 0, capacity);
  }

  /** Iterations per bin, a power of two. */
  get width(): number {
    return this.#width;
  }

  /** Bins up to the newest, including empty ones. */
  get length(): number {
    return this.#used;
  }

  /** Merges bins until an iteration has one. @returns where the cells of its bin begin */
  reach(iteration: number): number {
    while (iteration >= this.capacity * this.#width) this.#merge();
    const bin = Math.floor(iteration / this.#width);
    this.#used = Math.max(this.#used, bin + 1);
    return bin * CELL_COUNT;
  }

  /** Adds a rank's row of an iteration that has not been added before; it begins at `from`. */
  addRow(iteration: number, rows: Float64Array, from: number): void {
    const at = this.reach(iteration);
    addRow(this.cells, at, rows, from);
  }

  /** Adds a bin of `width` iterations, a power of two, that has not been added before. */
  addBin(start: number, width: number, cells: Float64Array, from: number): void {
    while (width > this.#width) this.#merge();
    const at = this.reach(start);
    addCells(this.cells, at, cells, from);
  }

  #merge(): void {
    const { cells } = this;
    const half = this.capacity / 2;
    for (let bin = 0; bin < half; bin++) {
      const left = 2 * bin * CELL_COUNT;
      const at = bin * CELL_COUNT;
      if (bin > 0) cells.copyWithin(at, left, left + CELL_COUNT);
      addCells(cells, at, cells, left + CELL_COUNT);
    }
    clearCells(cells, half * CELL_COUNT, half);
    this.#width *= 2;
    this.#used = Math.ceil(this.#used / 2);
  }
}
