/**
 * The page's memory of a run: the last iterations one by one and the whole run in bins.
 * `bins()` serves every chart: the mean of each quantity per bin, over all ranks or for
 * one, from whichever of the two has the requested resolution. Its cost is O(bins ·
 * ranks · fields), whatever the length of the run.
 */
import type { IterationRecord } from '../../shared/records/iteration.ts';
import { binWidth } from '../../shared/statistics/bin-width.ts';
import { BinnedHistory } from './binned-history.ts';
import { RecentIterations } from './recent-iterations.ts';
import {
  BANDED_FIELDS,
  COLUMN,
  FIELD_COUNT,
  writeRow,
  type BandedField,
  type Field,
} from './record-fields.ts';

/** The iterations from ≤ i < to as one bar or point. */
export interface Bin {
  readonly from: number;
  readonly to: number;
  /** Iterations that were observed in it, at least 1. */
  readonly count: number;
  /** Means, by COLUMN. */
  readonly means: Float64Array;
  /** Extremes over the bin's iterations and the query's ranks, in the order of BANDED_FIELDS. */
  readonly minima: readonly number[];
  readonly maxima: readonly number[];
}

export interface BinQuery {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Most bars or points. */
  readonly limit: number;
  /** Default: the mean over all ranks. */
  readonly rank?: number | undefined;
}

/** Rows kept at full resolution, over all ranks. */
const ROWS = 65_536;
/** Pairs of bins kept for the whole run, over all ranks. */
const BINS = 16_000;

export class RunHistory {
  readonly ranks: number;
  readonly recent: RecentIterations;
  readonly #whole: BinnedHistory;
  readonly #row = new Float64Array(FIELD_COUNT);

  constructor(ranks: number) {
    this.ranks = ranks;
    const perRank = Math.max(128, Math.min(4096, Math.floor(ROWS / ranks)));
    this.recent = new RecentIterations(ranks, perRank);
    this.#whole = new BinnedHistory(
      ranks,
      2 * Math.max(32, Math.min(1000, Math.floor(BINS / ranks))),
    );
  }

  /** Iterations that the axis must hold: one more than the newest one's number. */
  get length(): number {
    return this.recent.newest + 1;
  }

  /** Iterations finished by every rank. */
  get completeLength(): number {
    return this.recent.newestComplete + 1;
  }

  /**
   * Adds a record; a duplicate changes nothing. A record older than those at full
   * resolution must come at most once, which holds because only the store sends these.
   */
  add(record: IterationRecord): void {
    if (this.recent.add(record) === 'duplicate') return;
    writeRow(record, this.#row);
    this.#whole.add(record.iteration, record.rank, this.#row);
  }

  /** Bins without an observation are left out. Edges are multiples of a power of two. */
  bins(query: BinQuery): Bin[] {
    const from = Math.max(0, query.from);
    const to = Math.min(query.to, this.length);
    if (to <= from) return [];
    const width = binWidth(to - from, query.limit);
    const fine = width < this.#whole.width || width === 1;
    return fine && from >= this.recent.oldest
      ? this.#recentBins(from, to, width, query.rank)
      : this.#wholeBins(from, to, Math.max(width, this.#whole.width), query.rank);
  }

  #recentBins(from: number, to: number, width: number, only?: number): Bin[] {
    const bins: Bin[] = [];
    const counts = new Uint32Array(FIELD_COUNT);
    for (let start = Math.floor(from / width) * width; start < to; start += width) {
      const means = new Float64Array(FIELD_COUNT);
      counts.fill(0);
      const minima = BANDED_FIELDS.map(() => Infinity);
      const maxima = BANDED_FIELDS.map(() => -Infinity);
      let observed = 0;
      for (let i = Math.max(start, from); i < Math.min(start + width, to); i++) {
        let here = false;
        for (let rank = 0; rank < this.ranks; rank++) {
          const row = this.recent.row(i, rank);
          if (row === undefined) continue;
          if (only !== undefined && rank !== only) continue;
          here = true;
          BANDED_FIELDS.forEach((field, band) => {
            const value = row[COLUMN[field]]!;
            if (value < minima[band]!) minima[band] = value;
            if (value > maxima[band]!) maxima[band] = value;
          });
          for (let column = 0; column < FIELD_COUNT; column++) {
            const value = row[column]!;
            if (Number.isNaN(value)) continue;
            means[column]! += value;
            counts[column]! += 1;
          }
        }
        if (here) observed += 1;
      }
      if (observed === 0) continue;
      for (let column = 0; column < FIELD_COUNT; column++) {
        means[column] = counts[column] === 0 ? NaN : means[column]! / counts[column]!;
      }
      bins.push({
        from: start,
        to: start + width,
        count: observed,
        means,
        minima,
        maxima,
      });
    }
    return bins;
  }

  #wholeBins(from: number, to: number, width: number, only?: number): Bin[] {
    const whole = this.#whole;
    const merged = width / whole.width;
    const bins: Bin[] = [];
    const firstRank = only ?? 0;
    const endRank = only === undefined ? this.ranks : only + 1;
    for (let start = Math.floor(from / width) * width; start < to; start += width) {
      const first = start / whole.width;
      const end = Math.min(first + merged, whole.length);
      const means = new Float64Array(FIELD_COUNT);
      const minima = BANDED_FIELDS.map(() => Infinity);
      const maxima = BANDED_FIELDS.map(() => -Infinity);
      let observed = 0;
      for (let column = 0; column < FIELD_COUNT; column++) {
        let sum = 0;
        let count = 0;
        for (let bin = first; bin < end; bin++) {
          for (let rank = firstRank; rank < endRank; rank++) {
            sum += whole.sum(bin, rank, column);
            count += whole.count(bin, rank, column);
          }
        }
        means[column] = count === 0 ? NaN : sum / count;
        if (column === COLUMN.wall) {
          observed = Math.ceil(count / (endRank - firstRank));
        }
      }
      if (observed === 0) continue;
      for (let band = 0; band < BANDED_FIELDS.length; band++) {
        for (let bin = first; bin < end; bin++) {
          for (let rank = firstRank; rank < endRank; rank++) {
            minima[band] = Math.min(minima[band]!, whole.minimum(bin, rank, band));
            maxima[band] = Math.max(maxima[band]!, whole.maximum(bin, rank, band));
          }
        }
      }
      bins.push({
        from: start,
        to: start + width,
        count: observed,
        means,
        minima,
        maxima,
      });
    }
    return bins;
  }
}

/** A bin's mean of a field; undefined if it was not observed. */
export function meanOf(bin: Bin, field: Field): number | undefined {
  const value = bin.means[COLUMN[field]]!;
  return Number.isNaN(value) ? undefined : value;
}

/** A banded field's smallest and largest value in a bin. */
export function extremesOf(bin: Bin, field: BandedField): [number, number] | undefined {
  const band = BANDED_FIELDS.indexOf(field);
  const low = bin.minima[band]!;
  return Number.isFinite(low) ? [low, bin.maxima[band]!] : undefined;
}
