/** The judges of DCT's losses, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { dctFigure7b } from '../../../src/reproduce/figures/dct-figure-7b.ts';
import { dctTable1 } from '../../../src/reproduce/figures/dct-table-1.ts';
import { dctTable2 } from '../../../src/reproduce/figures/dct-table-2.ts';
import { dctTable3 } from '../../../src/reproduce/figures/dct-table-3.ts';
import { dctTable4 } from '../../../src/reproduce/figures/dct-table-4.ts';
import { judged, type Values } from './judged.ts';
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

/** Worlds in which the rule's controls lose, and the part by which one row rises: less and more than what counts. */
test.each([
  [
    dctTable1,
    { 'mp2-98': 0.5, 'mp3-95': 0.49, sketch: 0.55, backward: 0.56 },
    'mp2-95',
    0.0018,
  ],
  [dctTable2, { 'eta-99.5': 0.5 }, 'eta-90', 0.0018],
  [dctTable3, { 'hybrid3-95': 0.5 }, 'hybrid2-90', 0.0018],
  [dctFigure7b, {}, 'life10', 0.0018],
  [dctTable4, {}, 'mp2-90', 0.00486],
] as const)('$id counts a rise from its margin on', (figure, costly, row, margin) => {
  const rising =
    (rise: number): Values =>
    (id, seed) => {
      const loss = (costly as Readonly<Record<string, number>>)[id] ?? 0.48;
      const risen =
        id !== row ? 0 : figure === dctTable4 ? Math.log(1 + rise) : 0.48 * rise;
      return {
        loss: loss + risen + 1e-6 * seed,
        training: 0.43,
        auc: 0.8,
        perplexity: 1.4,
      };
    };
  expect(judged(figure, rising(0.8 * margin)).verdict).toBe('confirmed');
  const { outcomes, verdict } = judged(figure, rising(1.25 * margin));
  expect(verdict).toBe('refuted');
  expect(outcomes).toHaveLength(1);
});
