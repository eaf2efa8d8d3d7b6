/** Every figure's judge, by results for which the rule's words leave one verdict. */
import { describe, expect, test } from 'vitest';
import { verdictOf } from '../../../src/main/reproduce/figure.ts';
import { a2sgdFigure3 } from '../../../src/main/reproduce/figures/a2sgd-figure-3.ts';
import { a2sgdTable2 } from '../../../src/main/reproduce/figures/a2sgd-table-2.ts';
import { dctFigure5 } from '../../../src/main/reproduce/figures/dct-figure-5.ts';
import { dctFigure7 } from '../../../src/main/reproduce/figures/dct-figure-7.ts';
import { dctTable1 } from '../../../src/main/reproduce/figures/dct-table-1.ts';
import { dctTable2 } from '../../../src/main/reproduce/figures/dct-table-2.ts';
import { dctTable3 } from '../../../src/main/reproduce/figures/dct-table-3.ts';
import { qsgdTable1 } from '../../../src/main/reproduce/figures/qsgd-table-1.ts';
import { scalecomFigure1 } from '../../../src/main/reproduce/figures/scalecom-figure-1.ts';
import { scalecomFigure3 } from '../../../src/main/reproduce/figures/scalecom-figure-3.ts';
import { sparcmlFigure1 } from '../../../src/main/reproduce/figures/sparcml-figure-1.ts';
import { sparcmlFigure3 } from '../../../src/main/reproduce/figures/sparcml-figure-3.ts';
import { judged, part, type Values } from './judged.ts';

describe('fill-in', () => {
  const filling: Values = (id) => {
    const density = Math.min(1, part(id, 'p') * part(id, 'd') * 0.6);
    return density > 0.5 ? { dense: 1 } : { dense: 0, density };
  };

  test('is confirmed where it grows with every step and becomes dense', () => {
    expect(judged(sparcmlFigure1, filling)).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  const sparse: Values = (id) => ({
    dense: 0,
    density: part(id, 'p') * part(id, 'd') * 0.1,
  });

  test('is undecided where the collective goes dense for one seed alone', () => {
    const values: Values = (id, seed) =>
      id === 'p16-d0.1' && seed === 1 ? { dense: 1 } : sparse(id, seed);
    expect(judged(sparcmlFigure1, values)).toEqual({
      verdict: 'undecided',
      outcomes: ['unclear: at 10 % a rank and 16 ranks the collective goes dense'],
    });
  });

  test('is refuted where it never does', () => {
    expect(judged(sparcmlFigure1, sparse)).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: at 10 % a rank and 16 ranks the collective goes dense'],
    });
  });

  test('is refuted where sending more makes the sum sparser', () => {
    const values: Values = (id, seed) =>
      id.endsWith('-d0.001')
        ? { dense: 0, density: 0.1 * part(id, 'p') }
        : filling(id, seed);
    expect(judged(sparcmlFigure1, values)).toMatchObject({
      verdict: 'refuted',
      outcomes: [
        'fails: at each number of ranks the sum is denser where each rank sends more',
      ],
    });
  });

  test('is undecided where seeds differ by more than ranks do', () => {
    const noisy: Values = (id, seed) =>
      id === 'p4-d0.01'
        ? { dense: 0, density: 0.012 + 0.02 * seed }
        : filling(id, seed);
    expect(judged(sparcmlFigure1, noisy)).toMatchObject({
      verdict: 'undecided',
      outcomes: [
        expect.stringMatching(/^unclear: at 1 % a rank/),
        expect.stringMatching(/^unclear: at each number of ranks/),
      ],
    });
  });

  test('is refuted where a step makes the sum sparser', () => {
    const falling: Values = (id, seed) =>
      id === 'p8-d0.001' ? { dense: 0, density: 0.0001 } : filling(id, seed);
    expect(judged(sparcmlFigure1, falling)).toMatchObject({
      verdict: 'refuted',
      outcomes: [expect.stringMatching(/from 4 to 8 ranks it falls$/)],
    });
  });
});

describe('times of reductions', () => {
  const LOW = { doubling: 10, split: 20, variant: 300, ring: 600 };
  const HIGH = { doubling: 450, split: 390, variant: 390, ring: 600 };
  const taking =
    (low = LOW, high = HIGH, noise = 0): Values =>
    (id, seed) => {
      const at = id.endsWith('-d0.1') ? high : low;
      const time = id.startsWith('ssar-recursive')
        ? at.doubling
        : id.startsWith('ssar-split')
          ? at.split
          : id.startsWith('dsar')
            ? at.variant
            : at.ring;
      return { time: time + noise * seed * (id.startsWith('ssar-split') ? 1 : 0) };
    };

  test('are confirmed in the order of the paper', () => {
    expect(judged(sparcmlFigure3, taking()).verdict).toBe('confirmed');
  });

  test.each([
    ['split and allgather is faster for little', { ...LOW, split: 5 }, HIGH],
    ['the dense second phase is faster for little', { ...LOW, variant: 15 }, HIGH],
    ['the lead grows', LOW, { ...HIGH, variant: 390 * 30 }],
    ['the ring is faster', { ...LOW, variant: 700 }, HIGH],
    ['the ring is more than four times slower', { ...LOW, variant: 100 }, HIGH],
  ])('are refuted where %s', (_, low, high) => {
    expect(judged(sparcmlFigure3, taking(low, high)).verdict).toBe('refuted');
  });

  test('are compared by their ratios', () => {
    // Leads of 40, 10 and 25 times at the lowest density, and of none at the highest.
    const { outcomes } = judged(sparcmlFigure3, (id, seed) => {
      const values = taking()(id, seed);
      return id === 'ssar-split-allgather-d0.0001'
        ? { time: 300 / [40, 10, 25][seed]! }
        : values;
    });
    expect(outcomes).not.toContainEqual(expect.stringContaining('lead'));
  });

  test('are undecided where two are as fast within their spread', () => {
    const { verdict, outcomes } = judged(
      sparcmlFigure3,
      taking({ ...LOW, split: 12 }, HIGH, 7),
    );
    expect(verdict).toBe('undecided');
    expect(outcomes[0]).toMatch(/^unclear: at 0.01 % ssar-recursive-doubling/);
  });
});

describe('accuracy of A2SGD', () => {
  const reaching =
    (accuracies: Readonly<Record<string, number>>, a2sgd = [0, 0, 0]): Values =>
    (id, seed) => ({
      // A seed's own luck, the same for all methods.
      accuracy: accuracies[id]! + 0.01 * seed + (id === 'a2sgd' ? a2sgd[seed]! : 0),
    });
  const BEST = { none: 0.9, a2sgd: 0.89, qsgd: 0.88, topk: 0.8, gaussiank: 0.8 };

  test('is confirmed where it comes closest', () => {
    expect(judged(a2sgdFigure3, reaching(BEST)).verdict).toBe('confirmed');
  });

  test('is refuted where one other comes closer', () => {
    expect(judged(a2sgdFigure3, reaching({ ...BEST, qsgd: 0.895 }))).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: A2SGD ends closer to dense SGD than QSGD'],
    });
  });

  test('is undecided where seeds disagree', () => {
    expect(judged(a2sgdFigure3, reaching(BEST, [0.01, -0.02, 0.01]))).toEqual({
      verdict: 'undecided',
      outcomes: ['unclear: A2SGD ends closer to dense SGD than QSGD'],
    });
  });
});

describe('traffic', () => {
  const N: Readonly<Record<string, number>> = { 'lstm-small': 124_160, fnn3: 199_210 };
  const FACTORS: Readonly<Record<string, number>> = {
    ...{ none: 32, qsgd: 2.5, topk: 0.064, gaussiank: 0.06 },
  };
  const sending =
    (changed: (method: string, n: number) => object | undefined = () => undefined) =>
    (id: string) => {
      const [, method, model] = /^(\w+?)-(.*)$/.exec(id)!;
      const n = N[model!]!;
      const bits = method === 'a2sgd' ? 64 : FACTORS[method!]! * n;
      return { bits, least: bits, most: bits, ...changed(method!, n) };
    };

  test('of two means is confirmed', () => {
    expect(judged(a2sgdTable2, sending())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where one iteration takes more than two means', () => {
    const { verdict } = judged(
      a2sgdTable2,
      sending((method) => (method === 'a2sgd' ? { most: 128 } : undefined)),
    );
    expect(verdict).toBe('refuted');
  });

  test('is refuted where another method does not grow', () => {
    expect(
      judged(
        a2sgdTable2,
        sending((method) =>
          method === 'topk' ? { least: 900, most: 900 } : undefined,
        ),
      ),
    ).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: top-k sends more for the larger model'],
    });
  });

  test('is undecided where sizes of two models overlap', () => {
    expect(
      judged(
        a2sgdTable2,
        sending((method, n) =>
          method === 'gaussiank' ? { least: 0.03 * n, most: 0.1 * n } : undefined,
        ),
      ),
    ).toEqual({
      verdict: 'undecided',
      outcomes: ['unclear: Gaussian-k sends more for the larger model'],
    });
  });
});

describe('loss of a sparse DLRM', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 0.001): Values =>
    (id, seed) => ({
      loss: losses[id]! + noise * seed * (id === 'eta-99.5' ? 1 : -1),
      auc: 0.8,
    });
  const FREE = {
    ...{ baseline: 0.48, 'eta-75': 0.48, 'eta-90': 0.479, 'eta-98': 0.48 },
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
    const { verdict, outcomes } = judged(dctTable2, having(FREE, 0.02));
    expect(verdict).toBe('undecided');
    expect(outcomes).toContain(
      'unclear: at 99.5 % it is above that of uncompressed training',
    );
  });
});

describe('loss of a split DLRM', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 0.001): Values =>
    (id, seed) => ({
      loss: (losses[id] ?? 0.48) + noise * seed * (id === 'mp2-98' ? 1 : -1),
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
        'fails: with the largest of the gradient at 90 % it is above that of uncompressed training',
        'fails: with the largest of the gradient at 90 % it is above that with 2 workers at 90 %',
      ],
    });
  });

  test('is undecided where the spread could hide a loss', () => {
    expect(judged(dctTable1, having(COSTLY, 0.02))).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: with 2 workers at 98 % it is above that of uncompressed training',
      ],
    });
  });
});

describe('loss under hybrid parallelism', () => {
  const having =
    (losses: Readonly<Record<string, number>>, noise = 0.001): Values =>
    (id, seed) => ({
      loss: (losses[id] ?? 0.48) + noise * seed * (id === 'hybrid3-95' ? 1 : -1),
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
    expect(judged(dctTable3, having({ 'hybrid3-95': 0.5 }, 0.02))).toEqual({
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
    ...{ baseline: 60, 'eta95-life1': 70, 'eta95-life1000': 45 },
    ...{ 'eta75-life1000': 50, 'eta99-life1000': 44 },
  };
  const taking =
    (changes: Readonly<Record<string, number>> = {}, noise = 1): Values =>
    (id, seed) => {
      // A busy moment slows all runs of a seed alike, and one case by itself.
      const busy = 1 + 0.3 * seed;
      const alone = id === 'eta95-life1' ? 1 + (noise - 1) * seed : 1;
      return { time: ({ ...PAPER, ...changes }[id] ?? 50) * busy * alone };
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
      ['at 95 % with L = 1 an exchange takes longer than without compression'],
    ],
    [
      { 'eta95-life1000': 65, 'eta99-life1000': 49.9 },
      [
        'at 95 % with L = 1,000 it takes less time than without compression',
        'the step from 95 to 99 % gains less than that from nothing to 75 %',
      ],
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
        'unclear: at 95 % with L = 1 an exchange takes longer than without compression',
        'unclear: at 95 % with L = 1,000 it takes less time than with L = 1',
      ],
    });
  });
});

describe('thresholds of activations', () => {
  /** In the end, of 2 at the start: where all pass, and with DCT-MP. */
  const ending =
    (whole: number, sparse: (id: string, seed: number) => number): Values =>
    (id, seed) => {
      const end = (id === 'whole' ? whole : sparse(id, seed)) - 0.01 * seed;
      return {
        ...{ 'start-75': 2, 'start-90': 2, 'start-95': 2 },
        ...{ 'end-75': end, 'end-90': end, 'end-95': end },
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
    [1.5, 1.7, 'at 90 % it is lower in the end than where all activations pass'],
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
      id === 'mp-75' ? [1.2, 2.1, 1.5][seed]! : 1,
    );
    expect(judged(dctFigure5, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: with DCT-MP at 75 % the threshold falls',
        'unclear: at 75 % it is lower in the end than where all activations pass',
      ],
    });
  });
});

describe('gradients that build up', () => {
  const receiving =
    (
      topk: (workers: number) => number,
      scalecom: (workers: number) => number,
    ): Values =>
    (id, seed) => ({
      received:
        (id.startsWith('topk') ? topk : scalecom)(part(id, 'p')) * (1 + 0.001 * seed),
    });

  test('are confirmed where top-k grows and ScaleCom does not', () => {
    const values = receiving(
      (workers) => 1000 * workers ** 0.8,
      () => 900,
    );
    expect(judged(scalecomFigure1, values)).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('are refuted where ScaleCom grows as well', () => {
    const values = receiving(
      (workers) => 1000 * workers,
      (workers) => 500 * workers,
    );
    expect(judged(scalecomFigure1, values)).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: under ScaleCom a worker receives as much at 16 workers as at 2',
      ],
    });
  });

  test('are refuted where top-k hardly grows', () => {
    const values = receiving(
      (workers) => 1000 * workers ** 0.2,
      () => 900,
    );
    expect(judged(scalecomFigure1, values).verdict).toBe('refuted');
  });

  test('are undecided between half of linear and hardly', () => {
    const values = receiving(
      (workers) => 1000 * workers ** 0.5,
      () => 900,
    );
    expect(judged(scalecomFigure1, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: from 2 to 16 workers that grows at least by half as much as linearly',
      ],
    });
  });
});

describe('the entries of one leader', () => {
  test.each([
    ['confirmed', [0.7, 0.75, 0.8]],
    ['refuted', [0.81, 0.9, 0.85]],
    ['undecided', [0.7, 0.85, 0.75]],
  ] as const)('are %s', (verdict, distances) => {
    const values: Values = (id, seed) => ({
      distance: id === 'p8' ? distances[seed]! : 0.65,
    });
    expect(judged(scalecomFigure3, values).verdict).toBe(verdict);
  });
});

describe('accuracy in few bits', () => {
  const reaching =
    (
      changes: Readonly<Record<string, number>>,
      noise: readonly number[] = [],
    ): Values =>
    (id, seed) => ({
      accuracy:
        0.9 +
        0.01 * seed +
        (changes[id] ?? 0) +
        (id === 'control' ? (noise[seed] ?? 0) : 0),
    });

  test('is confirmed where only the control loses', () => {
    expect(judged(qsgdTable1, reaching({ control: -0.2 }))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where four bits lose', () => {
    expect(judged(qsgdTable1, reaching({ control: -0.2, 'bits-4': -0.05 }))).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: with 4 bit the accuracy is not below that of full precision'],
    });
  });

  test('is undecided where not even the control’s loss is seen', () => {
    expect(
      judged(qsgdTable1, reaching({ control: -0.02 }, [0.05, -0.05, 0])),
    ).toMatchObject({ verdict: 'undecided' });
  });
});

test('a verdict needs a finding', () => {
  expect(() => verdictOf([])).toThrow('internal:');
});
