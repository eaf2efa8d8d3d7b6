/** The judges of DCT's thresholds, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import {
  dctFigure2,
  usualDeviation,
} from '../../../src/reproduce/figures/dct-figure-2.ts';
import { dctFigure5 } from '../../../src/reproduce/figures/dct-figure-5.ts';
import { dctFigure7 } from '../../../src/reproduce/figures/dct-figure-7.ts';
import { judged, part, type Values } from './judged.ts';

describe('thresholds over the iterations', () => {
  const having =
    (
      changed: Readonly<Record<string, Readonly<Record<string, number>>>> = {},
    ): Values =>
    (id, seed) => ({
      threshold: id === 'kept' ? 1 : (1 + 0.01 * seed) / (100 - part(id, 'eta-')),
      strays: 0.2,
      most: 0.4,
      'strays of top2.weight': 0.3,
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
      'the threshold is higher the more is left out (90 to 95 %)',
      { 'eta-95': { threshold: 0.05 } },
    ],
    [
      'it rarely strays from its running mean by more than half of it (75 %)',
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

  test.each([
    [0.09, 0.45, 'confirmed'],
    [0.12, 0.45, 'refuted'],
    [0.09, 0.06 + 0.5, 'refuted'],
  ])('renewed in %d, straying by %d, are %s', (renewed, strays, verdict) => {
    const values = having({ kept: { renewed }, 'eta-90': { strays } });
    expect(judged(dctFigure2, values).verdict).toBe(verdict);
  });

  test('are undecided where one strays for one seed alone', () => {
    const values: Values = (id, seed) => ({
      ...having()(id, seed),
      ...(id === 'eta-98' && seed === 2 ? { strays: 0.7 } : {}),
    });
    expect(judged(dctFigure2, values)).toMatchObject({
      verdict: 'undecided',
      outcomes: [expect.stringContaining('(98 %)')],
    });
  });
});

test('a deviation is that from the 50 values before, but for a twentieth', () => {
  const curve = (value: (x: number) => number) =>
    Array.from({ length: 900 }, (_, x) => ({ x, y: value(x) }));
  expect(usualDeviation(curve(() => 3))).toBe(0);
  // What is before iteration 350 counts for the mean alone.
  expect(usualDeviation(curve((x) => (x < 300 ? 1 + (x % 2) : 1.5)))).toBe(0);
  // Every eleventh threshold is twice as high: more than a twentieth of them.
  const often = usualDeviation(curve((x) => (x % 11 === 0 ? 2 : 1)));
  expect(often).toBeGreaterThan(0.8);
  expect(often).toBeLessThan(0.9);
  // Every fiftieth is less than that.
  expect(usualDeviation(curve((x) => (x % 50 === 0 ? 2 : 1)))).toBeCloseTo(0.02, 2);
  expect(usualDeviation(curve(() => 1).slice(0, 350))).toBeUndefined();
});

describe('thresholds of activations', () => {
  /** Thresholds in the end, of 2 at the start: where all pass, and with DCT-MP. */
  const ending =
    (whole: number, sparse: (id: string, seed: number) => number): Values =>
    (id, seed) => {
      const end = (id === 'whole' ? whole : sparse(id, seed)) - 0.01 * seed;
      return {
        'start-75': 2,
        'start-90': 2,
        'start-95': 2,
        'end-75': end,
        'end-90': end,
        'end-95': end,
      };
    };

  test('are confirmed where DCT-MP makes them fall faster', () => {
    expect(
      judged(
        dctFigure5,
        ending(1.8, () => 1),
      ),
    ).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [1.5, 1.7, 'at 90 % the threshold ends lower than where all activations pass'],
    [2.9, 2.1, 'with DCT-MP at 90 % the threshold falls'],
  ])('are refuted by %d where all pass and %d', (whole, sparse, finding) => {
    const values = ending(whole, (id) => (id === 'mp-90' ? sparse : 1));
    expect(judged(dctFigure5, values)).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${finding}`],
    });
  });

  test('are undecided where seeds disagree', () => {
    const values = ending(1.9, (id, seed) =>
      id === 'mp-75' ? [1.2, 2.5, 1.5, 2.6, 1.4][seed]! : 1,
    );
    expect(judged(dctFigure5, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: with DCT-MP at 75 % the threshold falls',
        'unclear: at 75 % the threshold ends lower than where all activations pass',
      ],
    });
  });
});

describe('times of living thresholds', () => {
  const PAPER: Readonly<Record<string, number>> = {
    baseline: 60,
    'eta95-life1': 70,
    'eta95-life10': 50,
    'eta95-life100': 45.5,
    'eta95-life1000': 45,
    'eta75-life1000': 50,
    'eta99-life1000': 44,
  };
  const taking =
    (changes: Readonly<Record<string, number>> = {}, noise = 1): Values =>
    (id, seed) => {
      // A busy moment slows all runs of a seed alike, and one case by itself.
      const busy = 1 + 0.3 * seed;
      const alone = id === 'eta95-life1' ? 1 + (noise - 1) * seed : 1;
      return { time: { ...PAPER, ...changes }[id]! * busy * alone };
    };

  test('are confirmed where a threshold must live to pay', () => {
    expect(judged(dctFigure7, taking())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      { 'eta95-life1': 55 },
      ['at 95 % with L = 1 an iteration takes longer than without compression'],
    ],
    [
      { 'eta95-life100': 62, 'eta95-life1000': 62 },
      [
        'at 95 % with L = 1,000 it takes less time than without compression',
        'the step from 95 to 99 % gains less than that from nothing to 75 %',
      ],
    ],
    [
      { 'eta95-life100': 52 },
      ['at 95 % with L = 1,000 it takes no less time than with L = 100'],
    ],
    [
      { 'eta99-life1000': 50.1 },
      ['with L = 1,000 it takes less time at 99 than at 75 %'],
    ],
    [
      { 'eta99-life1000': 30 },
      ['the step from 95 to 99 % gains less than that from nothing to 75 %'],
    ],
  ])('are refuted by %j', (change, findings) => {
    expect(judged(dctFigure7, taking(change))).toEqual({
      verdict: 'refuted',
      outcomes: findings.map((text) => `fails: ${text}`),
    });
  });

  test('are undecided where one case is now slow and now fast', () => {
    expect(judged(dctFigure7, taking({}, 0.7))).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: at 95 % with L = 1 an iteration takes longer than without compression',
        'unclear: at 95 % with L = 1,000 it takes less time than with L = 1',
      ],
    });
  });
});
