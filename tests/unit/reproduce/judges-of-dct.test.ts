/** The judges of DCT's figures, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import {
  dctFigure2,
  usualDeviation,
} from '../../../src/reproduce/figures/dct-figure-2.ts';
import { dctFigure5 } from '../../../src/reproduce/figures/dct-figure-5.ts';
import { dctFigure7 } from '../../../src/reproduce/figures/dct-figure-7.ts';
import { dctFigure7b } from '../../../src/reproduce/figures/dct-figure-7b.ts';
import { dctTable1 } from '../../../src/reproduce/figures/dct-table-1.ts';
import { dctTable2 } from '../../../src/reproduce/figures/dct-table-2.ts';
import { dctTable3 } from '../../../src/reproduce/figures/dct-table-3.ts';
import { dctTable4 } from '../../../src/reproduce/figures/dct-table-4.ts';
import { judged, part, type Values } from './judged.ts';
import { madeUpSweep } from './made-up-sweep.ts';

/** Differences between seeds that hide a loss of 0.02. */
const NOISE = [0.04, -0.04, 0.03, -0.03, 0];

describe('losses of a Transformer split inside its layers', () => {
  const losing =
    (rise: Readonly<Record<string, number>>): Values =>
    (id, seed) => ({
      loss: 0.36 + 0.01 * seed + Math.log(1 + (rise[id] ?? 0)),
      perplexity: 1.43,
    });

  test('are confirmed where none rises', () => {
    expect(judged(dctTable4, losing({ 'mp2-95': 0.0005, 'mp3-90': -0.02 }))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [2, 90],
    [2, 95],
    [3, 90],
    [3, 95],
  ])('are refuted where they rise with %d workers at %d %%', (workers, percent) => {
    expect(judged(dctTable4, losing({ [`mp${workers}-${percent}`]: 0.01 }))).toEqual({
      verdict: 'refuted',
      outcomes: [
        `fails: with ${workers} workers at ${percent} % the perplexity is not above that of uncompressed training`,
      ],
    });
  });

  test('say the same whatever text there is to predict', () => {
    const harder: Values = (id, seed) => {
      const values = losing({ 'mp3-95': 0.02 })(id, seed);
      return { ...values, loss: values.loss! + 3.5 };
    };
    expect(judged(dctTable4, harder)).toEqual(
      judged(dctTable4, losing({ 'mp3-95': 0.02 })),
    );
  });

  test('are drawn beside the paper’s, whose losses are to the base of two', () => {
    const { series } = dctTable4.chart(madeUpSweep(dctTable4, losing({})));
    const paper = series.find(({ name }) => name === 'the paper')!;
    expect(paper.points[0]!.y).toBeCloseTo(100 * (2 ** (3.879 - 3.883) - 1), 9);
  });

  test('are undecided where seeds differ by more than the rise', () => {
    const values: Values = (id, seed) => ({
      loss: 0.36 + (id === 'mp3-90' ? NOISE[seed]! : 0),
      perplexity: 1.43,
    });
    expect(judged(dctTable4, values).verdict).toBe('undecided');
  });
});

describe('losses by the life-span of thresholds', () => {
  const losing =
    (
      rise: Readonly<Record<string, number>>,
      inTraining: Readonly<Record<string, number>> = {},
    ): Values =>
    (id, seed) => ({
      loss: (0.44 + 0.001 * seed) * (1 + (rise[id] ?? 0)),
      training: (0.43 + 0.002 * seed) * (1 + (inTraining[id] ?? 0)),
      auc: 0.8,
    });

  test('are confirmed where none rises', () => {
    expect(judged(dctFigure7b, losing({ life10: -0.001 }))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each(['1', '10', '100', '1,000'])(
    'are refuted where they rise at %s',
    (life) => {
      const id = `life${life.replace(',', '')}`;
      expect(judged(dctFigure7b, losing({ [id]: 0.01 }))).toEqual({
        verdict: 'refuted',
        outcomes: [
          `fails: with L = ${life} the test loss is not above that of uncompressed training`,
        ],
      });
    },
  );

  test('are refuted where that of training rises alone', () => {
    expect(judged(dctFigure7b, losing({}, { life10: 0.01 }))).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: with L = 10 the training loss is not above that of uncompressed training',
      ],
    });
  });

  test('are undecided in results without that of training', () => {
    const values: Values = () => ({ loss: 0.44, auc: 0.8 });
    expect(judged(dctFigure7b, values).verdict).toBe('undecided');
  });

  test('are undecided where seeds differ by more than the rise', () => {
    const values: Values = (id, seed) => ({
      loss: 0.44 + (id === 'life100' ? NOISE[seed]! : 0),
      training: 0.43,
      auc: 0.8,
    });
    expect(judged(dctFigure7b, values).verdict).toBe('undecided');
  });
});

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
  /** In the end, of 2 at the start: where all pass, and with DCT-MP. */
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

describe('loss of a split DLRM', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 1e-5, isNoisy = false): Values =>
    (id, seed) => ({
      loss:
        (losses[id] ?? 0.48) +
        noise * seed +
        (isNoisy && id === 'mp2-98' ? NOISE[seed]! : 0),
      auc: 0.8,
    });
  const COSTLY = { 'mp2-98': 0.5, 'mp3-95': 0.49, sketch: 0.55, backward: 0.56 };

  test('is confirmed where the sparsest and the controls lose', () => {
    expect(judged(dctTable1, having(COSTLY))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      { 'mp2-95': 0.5 },
      'with 2 workers at 95 % the test loss is not above that of uncompressed training',
    ],
    [
      { 'mp3-90': 0.5 },
      'with 3 workers at 90 % the test loss is not above that of uncompressed training',
    ],
    [
      { 'mp2-98': 0.45 },
      'with 2 workers at 98 % it is above that of uncompressed training',
    ],
    [
      { 'mp3-95': 0.45 },
      'with 3 workers at 95 % it is above that of uncompressed training',
    ],
  ])('is refuted by %j', (change, finding) => {
    expect(judged(dctTable1, having({ ...COSTLY, ...change }))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${finding}`],
    });
  });

  test('is refuted where a control does better', () => {
    expect(judged(dctTable1, having({ ...COSTLY, backward: 0.45 }))).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: with the largest entries of the gradient at 90 % it is above that of uncompressed training',
        'fails: with the largest entries of the gradient at 90 % it is above that with 2 workers at 90 %',
      ],
    });
  });

  test('is undecided where the spread could hide a loss', () => {
    expect(judged(dctTable1, having(COSTLY, 0, true))).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: with 2 workers at 98 % it is above that of uncompressed training',
      ],
    });
  });
});

describe('loss of a sparse DLRM', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 1e-5, isNoisy = false): Values =>
    (id, seed) => ({
      loss:
        losses[id]! + noise * seed + (isNoisy && id === 'eta-99.5' ? NOISE[seed]! : 0),
      auc: 0.8,
    });
  const FREE = {
    baseline: 0.48,
    'eta-75': 0.48,
    'eta-90': 0.479,
    'eta-95': 0.48,
    'eta-98': 0.48,
    'eta-99.5': 0.5,
  };

  test('is confirmed where only the sparsest loses', () => {
    expect(judged(dctTable2, having(FREE))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where a moderate sparsity loses', () => {
    expect(judged(dctTable2, having({ ...FREE, 'eta-90': 0.49 }))).toMatchObject({
      verdict: 'refuted',
      outcomes: [
        'fails: at 90 % the test loss is not above that of uncompressed training',
      ],
    });
  });

  test('is undecided where the spread could hide a loss', () => {
    const { verdict, outcomes } = judged(dctTable2, having(FREE, 0, true));
    expect(verdict).toBe('undecided');
    expect(outcomes).toContain(
      'unclear: at 99.5 % it is above that of uncompressed training',
    );
  });
});

describe('loss under hybrid parallelism', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 1e-5, isNoisy = false): Values =>
    (id, seed) => ({
      loss:
        (losses[id] ?? 0.48) +
        noise * seed +
        (isNoisy && id === 'hybrid3-95' ? NOISE[seed]! : 0),
      auc: 0.8,
    });

  test('is confirmed where three stages lose at 95 %', () => {
    expect(judged(dctTable3, having({ 'hybrid3-95': 0.5 }))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    [
      { 'hybrid2-90': 0.5 },
      'with 2 stages at 90 % the test loss is not above that of uncompressed training',
    ],
    [
      { 'hybrid3-90': 0.5 },
      'with 3 stages at 90 % the test loss is not above that of uncompressed training',
    ],
    [
      { baseline: 0.6 },
      'with 3 stages at 95 % it is above that of uncompressed training',
    ],
    [
      { 'hybrid2-95': 0.6 },
      'with 3 stages at 95 % it is above that with 2 stages at 95 %',
    ],
  ])('is refuted by %j', (change, finding) => {
    expect(judged(dctTable3, having({ 'hybrid3-95': 0.5, ...change }))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${finding}`],
    });
  });

  test('is undecided where the spread could hide a loss', () => {
    expect(judged(dctTable3, having({ 'hybrid3-95': 0.5 }, 0, true))).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: with 3 stages at 95 % it is above that of uncompressed training',
        'unclear: with 3 stages at 95 % it is above that with 2 stages at 95 %',
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
