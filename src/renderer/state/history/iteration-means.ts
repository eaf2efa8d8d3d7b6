/** Means over all ranks, iteration by iteration, of a window of bins of width 1. */
import type { Field } from '../../../shared/records/chart-fields.ts';
import { COLUMN } from '../../../shared/records/chart-fields.ts';
import type { IterationMeans } from '../../../shared/verdict/iteration-means.ts';
import type { BinWindow } from './bin-window.ts';
import type { Bin } from './bin.ts';

export class WindowMeans implements IterationMeans {
  readonly newestComplete: number;
  readonly #bins: ReadonlyMap<number, Bin>;
  readonly #ranks: number;

  /** @param window over all ranks, of bins of one iteration */
  constructor(window: BinWindow, ranks: number) {
    const bins = [...window.bins(-Infinity, Infinity)];
    this.#bins = new Map(bins.map((bin) => [bin.from, bin]));
    this.#ranks = ranks;
    this.newestComplete =
      bins.findLast(({ from }) => this.isComplete(from))?.from ?? -1;
  }

  isComplete(iteration: number): boolean {
    return this.#bins.get(iteration)?.records === this.#ranks;
  }

  mean(iteration: number, field: Field): number {
    return this.#bins.get(iteration)?.means[COLUMN[field]] ?? NaN;
  }
}
