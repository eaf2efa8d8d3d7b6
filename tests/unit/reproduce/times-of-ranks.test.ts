/** What figures take from records of iterations, by records of which every number is known. */
import { describe, expect, test } from 'vitest';
import { dctFigure7 } from '../../../src/reproduce/figures/dct-figure-7.ts';
import { qsgdFigure2 } from '../../../src/reproduce/figures/qsgd-figure-2.ts';
import {
  exchangeTime,
  meanIterationTime,
  rankMeans,
} from '../../../src/reproduce/run-measures.ts';
import type { PhaseTimes } from '../../../src/shared/records/phases.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { iterationRecord } from '../renderer/records.ts';

const record = (
  iteration: number,
  rank: number,
  phases: Partial<PhaseTimes>,
  loss = 1,
): IterationRecord => iterationRecord({ iteration, rank, phases, loss });

/** As where nothing is trained. */
function withoutLoss(): IterationRecord {
  const one = { ...record(0, 1, {}) };
  Reflect.deleteProperty(one, 'loss');
  return one;
}

// As they come: not in order. Rank 1 arrives last in iteration 1, rank 0 in iteration 2.
const records = [
  record(0, 0, { wait: 1, send: 1 }, 9),
  record(2, 1, { wait: 30, send: 5, compute: 1 }, 3),
  record(1, 0, { wait: 50, send: 4, compute: 2 }, 4),
  record(0, 1, { wait: 2, send: 1 }, 9),
  record(1, 1, { wait: 1, send: 6, compute: 90 }, 6),
  record(2, 0, { wait: 2, send: 8, compute: 60 }, 1),
];

/** Milliseconds that a card sends in each iteration. */
const WIRE = 6;
const FROM = 2;

/**
 * Ranks that compute, send to all others through cards that carry on by themselves, and wait until the others'
 * data are there.
 * @param own milliseconds of computing
 * @param apart the moment at which a rank begins its first iteration
 */
function world(
  ranks: number,
  own: (iteration: number, rank: number) => number,
  apart: (rank: number) => number = () => 0,
): readonly IterationRecord[] {
  let starts = Array.from({ length: ranks }, (_, rank) => apart(rank));
  const free = starts.map(() => -Infinity);
  return Array.from({ length: FROM + 11 }, (_, iteration) => {
    const arrivals = starts.map((start, rank) => start + own(iteration, rank));
    const there = arrivals.map(
      (arrival, rank) => (free[rank] = Math.max(arrival, free[rank]!) + WIRE),
    );
    const ends = arrivals.map((arrival, rank) =>
      Math.max(arrival, ...there.filter((_, other) => other !== rank)),
    );
    const made = ends.map((end, rank) =>
      record(iteration, rank, {
        compute: own(iteration, rank),
        wait: end - arrivals[rank]!,
      }),
    );
    starts = ends;
    return made;
  }).flat();
}

const meanOf = (times: readonly number[]): number =>
  times.reduce((sum, time) => sum + time, 0) / times.length;

describe('the time of an exchange', () => {
  const inTurn = (by: number) => (iteration: number, rank: number) =>
    20 + by * ((iteration + rank) % 2);
  const straggling = (by: number) => (_: number, rank: number) =>
    20 + (rank === 1 ? by : 0);

  describe.each([2, 8])('of %d ranks', (ranks) => {
    test.each([
      ['all are alike', world(ranks, () => 20)],
      [
        'they begin apart',
        world(
          ranks,
          () => 20,
          (rank) => rank / 2,
        ),
      ],
      // One rank's send is hidden each time: its card carries while it computes again.
      [
        'one began far ahead',
        world(
          ranks,
          () => 20,
          (rank) => (rank === 0 ? -WIRE : 0),
        ),
      ],
      ['they are a little late in turn', world(ranks, inTurn(2))],
      ['they are late in turn by more than the wire takes', world(ranks, inTurn(20))],
    ])('is what the wire takes where %s', (_, records) => {
      expect(exchangeTime(records, FROM)).toBeCloseTo(WIRE, 9);
      const average = exchangeTime(records, FROM, ['wait'], meanOf);
      expect(average).toBeGreaterThan(0.9 * WIRE);
      expect(average).toBeLessThanOrEqual(WIRE + 1e-9);
    });

    test.each([1, 5, 30])(
      'is no longer than that where one is always %d ms late',
      (by) => {
        const records = world(ranks, straggling(by));
        expect(exchangeTime(records, FROM)).toBeLessThanOrEqual(WIRE + 1e-9);
        expect(meanIterationTime(records, FROM)).toBeGreaterThanOrEqual(20 + by);
      },
    );
  });

  test('is what the last rank spent where an iteration takes no longer than that rank alone', () => {
    // Rank 1 is late by more than the wire takes, and its own send returns at once.
    const late = (iteration: number) => [
      record(iteration, 0, { compute: 20, wait: 30 }),
      record(iteration, 1, { compute: 49.9, send: 0.1 }),
    ];
    const records = [0, 1, 2].flatMap(late);
    expect(exchangeTime(records, 0)).toBeCloseTo(0.1, 9);
    expect(exchangeTime(records, 0, ['send', 'wait'], meanOf)).toBeCloseTo(0.1, 9);
  });

  test('is of the requested phases; the rest is the ranks’ own', () => {
    // Means of 10 and 16, beside 6 and 7 ms of their own; the first iteration does not count.
    const both = [
      record(0, 0, { wait: 99 }),
      record(0, 1, { wait: 99 }),
      record(2, 1, { compute: 4, compress: 2, send: 10 }),
      record(1, 0, { compute: 5, compress: 1, wait: 6 }),
      record(1, 1, { compute: 4, compress: 1, wait: 3 }),
      record(2, 0, { compute: 5, compress: 2, reduce: 9 }),
    ];
    expect(exchangeTime(both, 1)).toBe((10 - 6 + 16 - 7) / 2);
    expect(exchangeTime(both, 2, ['send', 'reduce'])).toBe(16 - 7);
    expect(exchangeTime(both, 2, ['compress', 'send', 'reduce'])).toBe(16 - 5);
  });

  test('is missing where no iteration is late enough', () => {
    expect(() => exchangeTime(records, 3, ['wait'])).toThrow(
      expect.objectContaining({
        code: 'MEASURE_MISSING',
        message: expect.stringContaining('iterations from 3'),
      }),
    );
  });
});

test('an iteration takes the mean of all ranks, which end it in turn', () => {
  const took = (iteration: number, rank: number, compute: number) =>
    record(iteration, rank, { compute });
  const records = [
    ...[took(0, 0, 900), took(0, 1, 900)],
    ...[took(1, 0, 10), took(1, 1, 30)],
    ...[took(2, 0, 30), took(2, 1, 12)],
    ...[took(3, 0, 10), took(3, 1, 40)],
  ];
  expect(meanIterationTime(records, 1)).toBe(21);
  expect(meanIterationTime(records, 1, meanOf)).toBe(22);
});

describe('means over ranks', () => {
  test('are in the order of the iterations', () => {
    const losses = (range: { from: number; to?: number }) =>
      rankMeans(records, range, ({ loss }) => loss, 'loss');
    expect(losses({ from: 0 })).toEqual([9, 5, 2]);
    expect(losses({ from: 1, to: 2 })).toEqual([5]);
  });

  test.each([
    ['a rank has no value', [record(0, 0, {}), withoutLoss()], 0],
    ['no iteration is in the range', records, 3],
  ])('are missing where %s', (_, given, from) => {
    expect(() => rankMeans(given, { from }, ({ loss }) => loss, 'loss')).toThrow(
      expect.objectContaining({ code: 'MEASURE_MISSING' }),
    );
  });
});

describe('what figures measure', () => {
  test('QSGD’s share is of an iteration beyond its computing, whoever waits for the network', () => {
    const records = [3, 4, 5].flatMap((iteration) => [
      record(iteration, 0, { compute: 40, wait: 16 }),
      record(iteration, 1, { compute: 40, compress: 0.6, send: 0.2 }),
    ]);
    const { values } = qsgdFigure2.measure(records);
    expect(values['iteration']).toBeCloseTo(48.4, 9);
    expect(values['communication']).toBeCloseTo(8.4, 9);
    expect(values['share']).toBeCloseTo(8.4 / 48.4, 9);
  });

  test('DCT’s times count iterations that renew thresholds as often as they come', () => {
    const iteration = (number: number, compress: number, renewed: number) =>
      [0, 1].map((rank) => ({
        ...record(number, rank, { compute: 20, compress, wait: 5 }),
        thresholdRefreshes: renewed,
      }));
    const records = [
      // Before the residual has built up.
      ...iteration(349, 900, 16),
      ...iteration(350, 40, 16),
      ...iteration(351, 1, 0),
      ...iteration(352, 1, 2),
    ];
    expect(dctFigure7.measure(records).values).toEqual({
      time: 39,
      exchange: 19,
      renewed: 6,
    });
  });
});
