/** The judge of DCT's thresholds, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import {
  dctFigure2,
  largestDeviation,
} from '../../../src/main/reproduce/figures/dct-figure-2.ts';
import { judged, part, type Values } from './judged.ts';

describe('thresholds over the iterations', () => {
  const having =
    (
      changed: Readonly<Record<string, Readonly<Record<string, number>>>> = {},
    ): Values =>
    (id, seed) => ({
      threshold: id === 'kept' ? 1 : (1 + 0.01 * seed) / (100 - part(id, 'eta-')),
      strays: 0.2,
      renewed: id === 'kept' ? 0.02 : 1,
      ...changed[id],
    });

  test('are confirmed where they are steady', () => {
    expect(judged(dctFigure2, having())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      'the threshold is higher the more is left out (fails: 90 to 95 %)',
      { 'eta-95': { threshold: 0.05 } },
    ],
    [
      'it does not stray from its running mean by more than half of it (fails: 75 %)',
      { 'eta-75': { strays: 0.6 } },
    ],
    [
      'kept at 95 % it is renewed in at most a tenth of the iterations',
      { kept: { renewed: 0.3 } },
    ],
  ])('are refuted: %s', (text, changed) => {
    expect(judged(dctFigure2, having(changed))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${text}`],
    });
  });

  test('are undecided where one strays for one seed alone', () => {
    const values: Values = (id, seed) => ({
      ...having()(id, seed),
      ...(id === 'eta-98' && seed === 2 ? { strays: 0.7 } : {}),
    });
    expect(judged(dctFigure2, values)).toMatchObject({
      verdict: 'undecided',
      outcomes: [expect.stringContaining('(unclear: 98 %)')],
    });
  });
});

test('a deviation is that from the 50 values before', () => {
  const curve = (value: (x: number) => number) =>
    Array.from({ length: 60 }, (_, x) => ({ x, y: value(x) }));
  expect(largestDeviation(curve(() => 3))).toBe(0);
  // 2 after fifty ones: twice their mean. From then on the mean has it too.
  expect(largestDeviation(curve((x) => (x === 50 ? 2 : 1)))).toBeCloseTo(1, 12);
  expect(largestDeviation(curve((x) => (x === 55 ? 0.25 : 1)))).toBeCloseTo(0.75, 12);
  // What is before the first fifty have passed counts for the mean alone.
  expect(largestDeviation(curve((x) => (x < 50 ? 1 + (x % 2) : 1.5)))).toBeLessThan(
    1e-2,
  );
  expect(largestDeviation(curve(() => 1).slice(0, 50))).toBeUndefined();
});
