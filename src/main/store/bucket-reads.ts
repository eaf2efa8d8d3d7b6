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

  /** Some records of a run, by their first iteration. @param offset records before them */
  from(id: string, offset: number): readonly BucketSumsRecord[] {
    const { database, rows, statements } = this.#sources;
    const place = { run: rows.row(id).number, offset, limit: PAGE };
    return database
      .guard(() => statements.bucketSumsFrom.all(place))
      .map(({ record }) => unpackSums(record));
  }

  async *#records(range: {
    readonly run: number;
    readonly from: number;
    readonly to: number;
    readonly rank: number | null;
  }): AsyncGenerator<BucketSumsRecord> {
    const { database, statements } = this.#sources;
    let after: Place = { first: -1, last: -1, rank: -1 };
    for (;;) {
      const page = database.guard(() =>
        statements.bucketSums.all({
          ...range,
          afterFirst: after.first,
          afterLast: after.last,
          afterRank: after.rank,
          limit: PAGE,
        }),
      );
      for (const { record } of page) {
        yield unpackSums(record);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last;
      await nextTurn();
    }
  }
}
