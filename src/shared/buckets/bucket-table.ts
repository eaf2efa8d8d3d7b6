/**
 * The buckets of a run in a part of it: means of every measure for each bucket, and one measure
 * over the iterations. Made of the sums that ranks record at the end of each interval
 * (`records/bucket-sums.ts`); an interval that reaches beyond a column counts by its share.
 */
import type { BucketQuery } from './bucket-query.ts';
import {
  columnsOf,
  overlap,
  type IterationRange,
} from '../numbers/interval-columns.ts';
import type { BucketSumsRecord } from '../records/bucket-sums.ts';
import { BUCKET_MEASURE_IDS, type BucketValues } from './bucket-measures.ts';
import { BucketTotals } from './bucket-totals.ts';

/** Most cells of a table: half a megabyte. */
const MOST_CELLS = 50_000;

export interface BucketRow {
  /** Distinct within a run. */
  readonly key: string;
  /** The names of the first and the last tensor. */
  readonly name: string;
  /** Tensors in it. */
  readonly tensors: number;
  readonly length: number;
  /** Methods and collectives that carried it, the newest last. */
  readonly methods: readonly string[];
  readonly collectives: readonly string[];
  /** Exchanges that are looked at, of all ranks. */
  readonly exchanges: number;
  /** Share of the time that all buckets take, 0…1. */
  readonly share: number;
  readonly means: BucketValues;
  /** The measure in each column; null: not observed. */
  readonly cells: readonly (number | null)[];
}

export interface BucketTable {
  /** Columns, ascending. */
  readonly columns: readonly IterationRange[];
  /** Buckets in the order in which they are exchanged. */
  readonly buckets: readonly BucketRow[];
  /** Milliseconds of an exchange that belong to no bucket: its control message, mostly late ranks. */
  readonly agreement?: number | undefined;
  /** Iterations that records say something of; undefined: none. */
  readonly known?: IterationRange | undefined;
}

interface OpenRow {
  readonly name: string;
  readonly length: number;
  tensors: number;
  /** The bucket's place in the exchange. */
  place: number;
  readonly methods: Set<string>;
  readonly collectives: Set<string>;
  readonly totals: BucketTotals;
  readonly cells: (BucketTotals | undefined)[];
}

export class BucketTableBuilder {
  readonly #query: BucketQuery;
  readonly #columns: readonly IterationRange[];
  readonly #rows = new Map<string, OpenRow>();
  #known: IterationRange | undefined;
  readonly #agreement = { time: 0, exchanges: 0 };

  /** @param intervals all intervals of the records that will be added */
  constructor(query: BucketQuery, intervals: readonly IterationRange[]) {
    this.#query = query;
    this.#columns = columnsOf(query, intervals);
  }

  /** Adds a rank's record; those of a rank in the order of their iterations. */
  add({ agreement = 0, buckets, exchanges, from, to }: BucketSumsRecord): void {
    const share = overlap({ from, to }, this.#query) / (to - from);
    if (share <= 0) return;
    const known = this.#known ?? { from, to };
    this.#known = {
      from: Math.min(from, known.from),
      to: Math.max(to, known.to),
    };
    this.#agreement.time += share * agreement;
    this.#agreement.exchanges += share * exchanges;
    const first = this.#columns.findIndex((column) => column.to > from);
    for (const [place, sum] of buckets.entries()) {
      const row = this.#row(sum, place);
      row.totals.add(sum, exchanges, share);
      if (first < 0) continue;
      for (let index = first; index < this.#columns.length; index++) {
        const column = this.#columns[index]!;
        if (column.from >= to) break;
        const part = overlap({ from, to }, column) / (to - from);
        const cell = (row.cells[index] ??= new BucketTotals());
        cell.add(sum, exchanges, part);
      }
    }
  }

  table(): BucketTable {
    const rows = [...this.#rows].toSorted(([, a], [, b]) => a.place - b.place);
    const time = rows.reduce((sum, [, { totals }]) => sum + totals.time, 0);
    const { measure } = this.#query;
    const columns =
      rows.length * this.#columns.length > MOST_CELLS ? [] : this.#columns;
    return {
      columns,
      buckets: rows.map(([key, { cells, totals, ...row }]) => ({
        key,
        name: row.name,
        tensors: row.tensors,
        length: row.length,
        methods: [...row.methods],
        collectives: [...row.collectives],
        exchanges: totals.exchanges,
        share: time === 0 ? 0 : totals.time / time,
        means: totals.means(BUCKET_MEASURE_IDS),
        cells: columns.map((_, index) => cells[index]?.mean(measure) ?? null),
      })),
      ...(this.#known === undefined
        ? {}
        : {
            known: this.#known,
            agreement: this.#agreement.time / this.#agreement.exchanges,
          }),
    };
  }

  #row(sum: BucketSumsRecord['buckets'][number], place: number): OpenRow {
    const { collective, length, method, name, tensors } = sum;
    const key = `${name}/${length}`;
    let row = this.#rows.get(key);
    if (row === undefined) {
      row = {
        name,
        length,
        tensors,
        place,
        methods: new Set(),
        collectives: new Set(),
        totals: new BucketTotals(),
        cells: [],
      };
      this.#rows.set(key, row);
    }
    row.place = place;
    for (const [set, value] of [
      [row.methods, method],
      [row.collectives, collective],
    ] as const) {
      // The newest is the last.
      set.delete(value);
      set.add(value);
    }
    return row;
  }
}
