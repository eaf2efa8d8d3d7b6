/** What figures take from records of iterations, by records of which every number is known. */
import { describe, expect, test } from 'vitest';
import { leastTimes, rankMeans } from '../../../src/reproduce/run-measures.ts';
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

describe('the least times', () => {
  test('are those of the rank that waited least, for the requested phases', () => {
    expect(leastTimes(records, 1, ['wait', 'send']).toSorted()).toEqual([10, 7]);
    expect(leastTimes(records, 2, ['send'])).toEqual([5]);
  });

  test('are missing where no iteration is late enough', () => {
    expect(() => leastTimes(records, 3, ['wait'])).toThrow(
      expect.objectContaining({ code: 'MEASURE_MISSING' }),
    );
  });
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
