/**
 * Bins over iterations that are held one by one. A bin that has all its records never changes, so
 * it is kept: a chart that follows a run computes those of the last iterations only, however
 * many are in view.
 */
import { addRow, CELL_COUNT, clearCells } from '../../../shared/records/chart-cells.ts';
import type { RecentIterations } from '../../../shared/verdict/recent-iterations.ts';
import { binOf, type Bin } from './bin.ts';

/** Bins of one width over one choice of ranks, by their first iterations, oldest first. */
type Kept = Map<number, Bin>;

interface Query {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Iterations of a bin. */
  readonly width: number;
  /** Default: all ranks. */
  readonly rank?: number | undefined;
}

export class RecentBins {
  readonly #recent: RecentIterations;
  readonly #cells = new Float64Array(CELL_COUNT);
  /** Bins by width and rank; those that were used last come last. */
  readonly #kept = new Map<string, Kept>();

  constructor(recent: RecentIterations) {
    this.#recent = recent;
  }

  /**
   * Bins without an observation are left out. Edges are multiples of `width`, but the first one
   * begins and the last one ends where the query does.
   */
  bins({ from, rank, to, width }: Query): Bin[] {
    const kept = this.#keptOf(`${width} ${rank}`);
    const first = Math.floor(from / width) * width;
    const bins: Bin[] = [];
    for (let start = first; start < to; start += width) {
      const end = Math.min(start + width, to);
      // Its iterations before `from` are not asked for.
      const isWhole = start >= from && end === start + width;
      const known = isWhole ? kept.get(start) : undefined;
      const bin = known ?? this.#compute(start, { from, to: end, rank });
      if (bin === undefined) continue;
      bins.push(bin);
      const full = width * (rank === undefined ? this.#recent.ranks : 1);
      if (isWhole && known === undefined && bin.records === full) kept.set(start, bin);
    }
    this.#forget(kept, first, bins.length);
    return bins;
  }

  #keptOf(key: string): Kept {
    const kept: Kept = this.#kept.get(key) ?? new Map<number, Bin>();
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    // Two widths for each rank, and those of charts over all ranks.
    const most = 2 * this.#recent.ranks + 8;
    if (this.#kept.size > most) this.#kept.delete(this.#kept.keys().next().value!);
    return kept;
  }

  /** Forgets what has left the view; if others are many beside it, those as well. */
  #forget(kept: Kept, first: number, used: number): void {
    if (kept.size <= 2 * used + 16) return;
    for (const start of kept.keys()) if (start < first) kept.delete(start);
    if (kept.size > 2 * used + 16) kept.clear();
  }

  #compute(start: number, { from, rank, to }: Omit<Query, 'width'>): Bin | undefined {
    const recent = this.#recent;
    const cells = this.#cells;
    const firstRank = rank ?? 0;
    const endRank = rank === undefined ? recent.ranks : rank + 1;
    let observed = 0;
    clearCells(cells, 0);
    const begin = Math.max(start, from);
    for (let i = begin; i < to; i++) {
      let here = false;
      for (let rank = firstRank; rank < endRank; rank++) {
        const row = recent.placeOf(i, rank);
        if (row < 0) continue;
        here = true;
        addRow(cells, 0, recent.rows, row);
      }
      if (here) observed += 1;
    }
    const bin = binOf({ from: begin, to }, cells, 0, recent.ranks);
    return bin && { ...bin, count: observed };
  }
}
