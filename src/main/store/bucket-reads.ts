/** Reads what the buckets of a run cost, from the sums that its ranks have recorded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BucketQuery } from '../../shared/buckets/bucket-query.ts';
import {
  BucketTableBuilder,
  type BucketTable,
} from '../../shared/buckets/bucket-table.ts';
import type { BucketSumsRecord } from '../../shared/records/bucket-sums.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { unpackSums } from './packed-sums.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements } from './statements.ts';

/** Records that are read at once: some 10 ms. */
const PAGE = 64;

/** A place in the order of the records. */
interface Place {
  readonly first: number;
  readonly last: number;
  readonly rank: number;
}

const BEFORE_ALL: Place = { first: -1, last: -1, rank: -1 };

/** Records that a reader wants. */
interface Range {
  readonly run: number;
  readonly from: number;
  /** The first iteration after the range. */
  readonly to: number;
  /** The rank whose records are wanted; null for all ranks. */
  readonly rank: number | null;
}

export interface BucketSources {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly rows: RunRows;
}

export class BucketReads {
  readonly #sources: BucketSources;

  constructor(sources: BucketSources) {
    this.#sources = sources;
  }

  /** The buckets in a part of a run. Others get their turns meanwhile. */
  async table(id: string, query: BucketQuery): Promise<BucketTable> {
    const { database, rows, statements } = this.#sources;
    const { from, rank = null, to } = query;
    const range = { run: rows.row(id).number, from, to, rank };
    const intervals = database.guard(() => statements.bucketIntervals.all(range));
    const builder = new BucketTableBuilder(query, intervals);
    for await (const record of this.#records(range)) builder.add(record);
    return builder.table();
  }

  /**
   * Records of a run after a place, by their first iteration, a page of them. A place is not a
   * count: a run in progress gets records before it too, from ranks that are slow.
   */
  after(id: string, place: Place = BEFORE_ALL): readonly BucketSumsRecord[] {
    const run = this.#sources.rows.row(id).number;
    return this.#page({ run, from: -1, to: Infinity, rank: null }, place).map(
      ({ record }) => unpackSums(record),
    );
  }

  async *#records(range: Range): AsyncGenerator<BucketSumsRecord> {
    let after = BEFORE_ALL;
    for (;;) {
      const page = this.#page(range, after);
      for (const { record } of page) {
        yield unpackSums(record);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last;
      await nextTurn();
    }
  }

  #page(range: Range, after: Place): ReturnType<Statements['bucketSums']['all']> {
    const { database, statements } = this.#sources;
    return database.guard(() =>
      statements.bucketSums.all({
        ...range,
        afterFirst: after.first,
        afterLast: after.last,
        afterRank: after.rank,
        limit: PAGE,
      }),
    );
  }
}
