/**
 * A whole run in bounded memory: at most `capacity` bins per rank, each the sum of the
 * iterations that fell into it. When the last bin is full, neighbours merge and the
 * width doubles, so that adding stays O(fields) amortised and a run of a million
 * iterations costs the same as one of two thousand. Means are exact; extremes of the
 * banded fields are kept, so that averaging does not hide tails.
 */
import { BANDED_FIELDS, COLUMN, FIELD_COUNT } from './record-fields.ts';

const BANDS = BANDED_FIELDS.length;

export class BinnedHistory {
  readonly ranks: number;
  readonly capacity: number;
  #width = 1;
  #used = 0;
  readonly #sums: Float64Array;
  readonly #counts: Uint32Array;
  readonly #minima: Float64Array;
  readonly #maxima: Float64Array;

  /** @param capacity an even number of bins */
  constructor(ranks: number, capacity = 2000) {
    if (capacity % 2 !== 0) throw new Error(`internal: ${capacity} bins`);
    this.ranks = ranks;
    this.capacity = capacity;
    this.#sums = new Float64Array(capacity * ranks * FIELD_COUNT);
    this.#counts = new Uint32Array(capacity * ranks * FIELD_COUNT);
    this.#minima = new Float64Array(capacity * ranks * BANDS).fill(Infinity);
    this.#maxima = new Float64Array(capacity * ranks * BANDS).fill(-Infinity);
  }

  /** Iterations per bin, a power of two. */
  get width(): number {
    return this.#width;
  }

  /** Bins up to the newest, including empty ones. */
  get length(): number {
    return this.#used;
  }

  /** Add a rank's row of an iteration that has not been added before. */
  add(iteration: number, rank: number, row: Float64Array): void {
    while (iteration >= this.capacity * this.#width) this.#merge();
    const bin = Math.floor(iteration / this.#width);
    this.#used = Math.max(this.#used, bin + 1);
    const base = (bin * this.ranks + rank) * FIELD_COUNT;
    for (let column = 0; column < FIELD_COUNT; column++) {
      const value = row[column]!;
      if (!Number.isNaN(value)) {
        this.#sums[base + column]! += value;
        this.#counts[base + column]! += 1;
      }
    }
    for (let band = 0; band < BANDS; band++) {
      const value = row[COLUMN[BANDED_FIELDS[band]!]]!;
      const cell = (bin * this.ranks + rank) * BANDS + band;
      if (value < this.#minima[cell]!) this.#minima[cell] = value;
      if (value > this.#maxima[cell]!) this.#maxima[cell] = value;
    }
  }

  sum(bin: number, rank: number, column: number): number {
    return this.#sums[(bin * this.ranks + rank) * FIELD_COUNT + column]!;
  }

  count(bin: number, rank: number, column: number): number {
    return this.#counts[(bin * this.ranks + rank) * FIELD_COUNT + column]!;
  }

  /** Smallest value of the band's field; Infinity if none. */
  minimum(bin: number, rank: number, band: number): number {
    return this.#minima[(bin * this.ranks + rank) * BANDS + band]!;
  }

  /** Largest value of the band's field; -Infinity if none. */
  maximum(bin: number, rank: number, band: number): number {
    return this.#maxima[(bin * this.ranks + rank) * BANDS + band]!;
  }

  #merge(): void {
    const stride = this.ranks * FIELD_COUNT;
    const banded = this.ranks * BANDS;
    const half = this.capacity / 2;
    for (let bin = 0; bin < half; bin++) {
      const left = 2 * bin * stride;
      for (let i = 0; i < stride; i++) {
        this.#sums[bin * stride + i] =
          this.#sums[left + i]! + this.#sums[left + stride + i]!;
        this.#counts[bin * stride + i] =
          this.#counts[left + i]! + this.#counts[left + stride + i]!;
      }
      const first = 2 * bin * banded;
      for (let i = 0; i < banded; i++) {
        this.#minima[bin * banded + i] = Math.min(
          this.#minima[first + i]!,
          this.#minima[first + banded + i]!,
        );
        this.#maxima[bin * banded + i] = Math.max(
          this.#maxima[first + i]!,
          this.#maxima[first + banded + i]!,
        );
      }
    }
    this.#sums.fill(0, half * stride);
    this.#counts.fill(0, half * stride);
    this.#minima.fill(Infinity, half * banded);
    this.#maxima.fill(-Infinity, half * banded);
    this.#width *= 2;
    this.#used = Math.ceil(this.#used / 2);
  }
}
