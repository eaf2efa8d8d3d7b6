import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BucketMeasure } from '../../../src/shared/buckets/bucket-measures.ts';
import { COSTLY_FIRST, ordered } from '../../../src/shared/buckets/bucket-order.ts';
import type { BucketQuery } from '../../../src/shared/buckets/bucket-query.ts';
import {
  BucketTableBuilder,
  type BucketTable,
} from '../../../src/shared/buckets/bucket-table.ts';
import { BucketTotals } from '../../../src/shared/buckets/bucket-totals.ts';
import { columnsOf } from '../../../src/shared/numbers/interval-columns.ts';
import { describeBuckets } from '../../../src/shared/buckets/bucket-text.ts';
import type {
  BucketSum,
  BucketSumsRecord,
} from '../../../src/shared/records/bucket-sums.ts';

const sum = (name: string, facts: Partial<BucketSum> = {}): BucketSum => ({
  name,
  tensors: 1,
  method: 'topk',
  collective: 'allgather',
  length: 100,
  begin: 0,
  end: 0,
  payload: 0,
  sent: 0,
  ...facts,
});

const record = (
  rank: number,
  [from, to]: readonly [number, number],
  buckets: readonly BucketSum[],
): BucketSumsRecord => ({
  type: 'bucket-sums',
  at: 0,
  rank,
  from,
  to,
  exchanges: to - from,
  buckets,
});

function tableOf(
  records: readonly BucketSumsRecord[],
  query: Partial<BucketQuery> = {},
): BucketTable {
  const whole = { from: 0, to: 1000, columns: 400, measure: 'time', ...query } as const;
  const builder = new BucketTableBuilder(whole, records);
  for (const one of records) builder.add(one);
  return builder.table();
}

test('density and fill-in are those of the exchanges in which they were counted', () => {
  // Of 16 exchanges 8 selected 10 of 1000 entries, and the results of 4 had 30.
  const facts = {
    length: 1000,
    nnzLocal: 80,
    selections: 8,
    nnzReduced: 120,
    nnzCounted: 40,
  };
  const totals = new BucketTotals();
  totals.add(sum('a', facts), 16, 1);
  expect(totals.means(['density', 'fillIn'])).toEqual({ density: 0.01, fillIn: 3 });
});

test('a measure at the end of a long interval counts with all of its exchanges', () => {
  const totals = new BucketTotals();
  totals.add(sum('a', { residualNorm: 1, error: 0.1 }), 1, 1);
  totals.add(sum('a', { residualNorm: 4, error: 0.4 }), 8, 1);
  totals.add(sum('a', { residualNorm: 8, error: 0.8 }), 32, 0.25);
  expect(totals.mean('residualNorm')).toBeCloseTo((1 + 8 * 4 + 8 * 8) / 17, 12);
  expect(totals.mean('error')).toBeCloseTo((0.1 + 8 * 0.4 + 8 * 0.8) / 17, 12);
});

/** Consecutive intervals of random lengths, the same for all ranks. */
const recordsArbitrary = fc
  .tuple(
    fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
    fc.integer({ min: 1, max: 3 }),
    fc.infiniteStream(fc.integer({ min: 0, max: 1000 })),
  )
  .map(([lengths, ranks, values]) => {
    const next = (): number => values.next().value as number;
    let from = 0;
    return lengths.flatMap((length) => {
      const range = [from, (from += length)] as const;
      return Array.from({ length: ranks }, (_, rank) =>
        record(
          rank,
          range,
          ['a', 'b'].map((name) =>
            sum(name, { wait: next(), send: next(), sent: next(), nnzLocal: next() }),
          ),
        ),
      );
    });
  });

/**
 * The mean of a measure over iterations, one after the other: each has an equal part of its
 * interval.
 */
function naive(
  records: readonly BucketSumsRecord[],
  name: string,
  { from, to }: { readonly from: number; readonly to: number },
  value: (sum: BucketSum) => number,
): number | undefined {
  let total = 0;
  let count = 0;
  for (let iteration = from; iteration < to; iteration++) {
    for (const one of records) {
      if (iteration < one.from || iteration >= one.to) continue;
      const bucket = one.buckets.find((each) => each.name === name)!;
      total += value(bucket) / (one.to - one.from);
      count++;
    }
  }
  return count === 0 ? undefined : total / count;
}

const MEASURES: readonly (readonly [BucketMeasure, (sum: BucketSum) => number])[] = [
  ['time', ({ send = 0, wait = 0 }) => send + wait],
  ['sent', ({ sent = 0 }) => sent],
  ['density', ({ length, nnzLocal = 0 }) => nnzLocal / length],
];

describe('the table of buckets', () => {
  test.each(MEASURES)('has the means of %s that iterations have', (measure, value) => {
    fc.assert(
      fc.property(
        recordsArbitrary,
        fc.integer({ min: 0, max: 20 }),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 8 }),
        (records, from, length, columns) => {
          const query = { from, to: from + length, columns, measure };
          const table = tableOf(records, query);
          expect(table.columns.length).toBeLessThanOrEqual(columns);
          for (const { cells, means, name } of table.buckets) {
            expect(means[measure]).toBeCloseTo(naive(records, name, query, value)!, 6);
            for (const [index, column] of table.columns.entries()) {
              const expected = naive(records, name, column, value)!;
              expect(cells[index]).toBeCloseTo(expected, 6);
            }
          }
        },
      ),
    );
  });

  test('cuts columns where intervals end, and joins them where there are too many', () => {
    const ends = [0, 1, 2, 4, 8, 16];
    const intervals = ends.slice(1).map((to, index) => ({ from: ends[index]!, to }));
    const range = { from: 0, to: 16 };
    expect(columnsOf({ ...range, columns: 9 }, intervals)).toEqual(intervals);
    expect(columnsOf({ ...range, columns: 2 }, intervals)).toEqual([
      { from: 0, to: 8 },
      { from: 8, to: 16 },
    ]);
    expect(columnsOf({ from: 3, to: 6, columns: 9 }, intervals)).toEqual([
      { from: 3, to: 4 },
      { from: 4, to: 6 },
    ]);
    expect(columnsOf({ ...range, columns: 9 }, [])).toEqual([]);
  });

  test('keeps a bucket over a switch, and lists what was observed alone', () => {
    const table = tableOf([
      record(0, [0, 1], [sum('a', { method: 'none', wait: 4 }), sum('b', { wait: 1 })]),
      record(
        0,
        [1, 2],
        [
          sum('a', { wait: 2, nnzLocal: 1, residualNorm: 3, error: 0.5 }),
          sum('b', { wait: 1 }),
        ],
      ),
    ]);
    expect(table.buckets).toMatchObject([
      {
        name: 'a',
        methods: ['none', 'topk'],
        share: 0.75,
        means: { time: 3, wait: 3, density: 0.01, residualNorm: 3, error: 0.5 },
        cells: [4, 2],
      },
      { name: 'b', methods: ['topk'], share: 0.25, means: { time: 1 } },
    ]);
    expect(table.buckets[1]!.means).not.toHaveProperty('density');
    expect(table.known).toEqual({ from: 0, to: 2 });
  });

  test('leads to the costly bucket', () => {
    const table = tableOf([
      record(
        0,
        [0, 2],
        [
          sum('a', { wait: 1, end: 1 }),
          sum('b', { wait: 2, send: 4, end: 9 }),
          sum('c', { hidden: 50, end: 2 }),
        ],
      ),
    ]);
    const rows = ordered(table.buckets, COSTLY_FIRST);
    expect(rows.map(({ name }) => name)).toEqual(['b', 'a', 'c']);
    expect(describeBuckets(table)).toBe(
      'b costs most of 3 buckets: 86 % of their time, 3.00 ms of an iteration, 2.00 ms of it ' +
        'sending and receiving, and ends last.',
    );
    expect(describeBuckets(tableOf([]))).toMatch(/^Nothing recorded/);
    const hidden = tableOf([record(0, [0, 1], [sum('c', { hidden: 5 })])]);
    expect(describeBuckets(hidden)).toMatch(/all communication is hidden/);
  });

  test('lists rows without a value last in any order', () => {
    const { buckets } = tableOf([
      record(0, [0, 1], [sum('a'), sum('b', { error: 0.2 }), sum('c', { error: 0.1 })]),
    ]);
    const names = (isDescending: boolean): readonly string[] =>
      ordered(buckets, { by: 'error', isDescending }).map(({ name }) => name);
    expect(names(true)).toEqual(['b', 'c', 'a']);
    expect(names(false)).toEqual(['c', 'b', 'a']);
  });
});

test('a bucket whose model stepped in some iterations has the means of its own exchanges', () => {
  const sums = [
    sum('actor', { ownExchanges: 2, payload: 200, compress: 4 }),
    sum('critic', { ownExchanges: 8, payload: 800, compress: 8 }),
  ];
  const { buckets } = tableOf([record(0, [0, 10], sums), record(0, [10, 20], sums)]);
  expect(
    buckets.map(({ exchanges, means, name }) => [name, exchanges, means.payload]),
  ).toEqual([
    ['actor', 4, 100],
    ['critic', 16, 100],
  ]);
});
