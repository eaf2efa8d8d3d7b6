/** The judges of A2SGD's figures, by results for which the rule leaves one verdict. */
import { describe, expect, test } from 'vitest';
import { a2sgdFigure1 } from '../../../src/reproduce/figures/a2sgd-figure-1.ts';
import { a2sgdFigure2 } from '../../../src/reproduce/figures/a2sgd-figure-2.ts';
import { a2sgdFigure3Lstm } from '../../../src/reproduce/figures/a2sgd-figure-3-lstm.ts';
import { a2sgdFigure3Resnet } from '../../../src/reproduce/figures/a2sgd-figure-3-resnet.ts';
import { a2sgdFigure3 } from '../../../src/reproduce/figures/a2sgd-figure-3.ts';
import { a2sgdFigure4 } from '../../../src/reproduce/figures/a2sgd-figure-4.ts';
import { a2sgdFigure5 } from '../../../src/reproduce/figures/a2sgd-figure-5.ts';
import { a2sgdTable2 } from '../../../src/reproduce/figures/a2sgd-table-2.ts';
import { judged, part, type Values } from './judged.ts';

describe('the distribution of a gradient', () => {
  const LUCK = [0, 0.01, -0.01, 0.005, -0.005];
  const shaped =
    (
      shape: Partial<Record<'within' | 'positive' | 'early' | 'late', number>>,
    ): Values =>
    (_id, seed) => ({
      within: 0.7 + LUCK[seed]!,
      positive: 0.5 + LUCK[seed]!,
      early: 1e-3 * (1 + seed),
      late: 5e-4 * (1 + seed),
      ...shape,
    });

  test('is confirmed where it is nearly normal and narrows', () => {
    expect(judged(a2sgdFigure1, shaped({})).verdict).toBe('confirmed');
  });

  test.each([
    [
      'as in a normal distribution, 68.3 % of the elements are within a deviation of 0',
      { within: 0.85 },
    ],
    [
      'as in a normal distribution, 68.3 % of the elements are within a deviation of 0',
      { within: 0.5 },
    ],
    ['half of the elements are above 0', { positive: 0.3 }],
    [
      'half of the elements are closer to 0 at the end than at first',
      { early: 1e-3, late: 2e-3 },
    ],
  ])('is refuted where not %s', (text, shape) => {
    expect(judged(a2sgdFigure1, shaped(shape))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${text}`],
    });
  });

  test('is undecided where seeds disagree on how it changes', () => {
    const values: Values = (id, seed) => ({
      ...shaped({})(id, seed),
      early: 1,
      late: [0.5, 1.5, 1, 0.8, 1.2][seed]!,
    });
    expect(judged(a2sgdFigure1, values)).toEqual({
      verdict: 'undecided',
      outcomes: [
        'unclear: half of the elements are closer to 0 at the end than at first',
      ],
    });
  });
});

describe('the cost of compressing', () => {
  const COSTS = { a2sgd: 1, gaussiank: 1.3, topk: 20, qsgd: 60 };
  /** ms for the method and size; a slow seed is slow for all. */
  const costing =
    (costs: Readonly<Record<string, number>>): Values =>
    (id, seed) => ({
      time: (costs[id.split('-')[0]!]! * part(id, 'n') * (1 + seed)) / 1e6,
    });

  test('is confirmed in the order of the paper', () => {
    expect(judged(a2sgdFigure2, costing(COSTS))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where top-k takes less than one of the two', () => {
    expect(
      judged(a2sgdFigure2, costing({ ...COSTS, gaussiank: 1.6, topk: 1.4 })),
    ).toEqual({
      verdict: 'refuted',
      outcomes: ['fails: Gaussian-k takes less time than top-k'],
    });
  });

  test('is undecided where A2SGD and Gaussian-k take turns', () => {
    const values: Values = (id, seed) => {
      const { time } = costing({ ...COSTS, gaussiank: 1 })(id, seed) as {
        time: number;
      };
      return {
        time: id.startsWith('gaussiank') ? time * [1.2, 0.8, 1, 1.1, 0.9][seed]! : time,
      };
    };
    expect(judged(a2sgdFigure2, values)).toEqual({
      verdict: 'undecided',
      outcomes: ['unclear: A2SGD takes less time than Gaussian-k'],
    });
  });

  test('is judged at the largest size alone', () => {
    const values: Values = (id, seed) =>
      part(id, 'n') < 2 ** 24 ? { time: 1 } : costing(COSTS)(id, seed);
    expect(judged(a2sgdFigure2, values).verdict).toBe('confirmed');
  });
});

describe('the time of an iteration', () => {
  const [SMALL, LARGE] = [
    { none: 20, a2sgd: 18, gaussiank: 19, topk: 24, qsgd: 30 },
    { none: 400, a2sgd: 80, gaussiank: 90, topk: 120, qsgd: 800 },
  ];
  /** ms for method, gradient and workers: half as long with two workers. */
  const taking =
    (
      small: Readonly<Record<string, number>> = SMALL,
      large: Readonly<Record<string, number>> = LARGE,
    ): Values =>
    (id, seed) => {
      const [method, gradient] = id.split('-') as [string, string];
      const time = (gradient === 'small' ? small : large)[method]!;
      return { time: (id.endsWith('-p2') ? time / 2 : time) * (1 + seed) };
    };

  test('is confirmed in the order of the paper', () => {
    expect(judged(a2sgdFigure4, taking())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each<
    [string, Readonly<Record<string, number>>, Readonly<Record<string, number>>]
  >([
    [
      'small gradient: A2SGD does not take longer than dense',
      { ...SMALL, none: 15, a2sgd: 18, gaussiank: 15 },
      LARGE,
    ],
    [
      'small gradient: Gaussian-k takes less time than top-k, QSGD (top-k)',
      { ...SMALL, a2sgd: 15, gaussiank: 20, topk: 18 },
      LARGE,
    ],
    [
      'large gradient: Gaussian-k takes less time than dense, top-k, QSGD (top-k)',
      SMALL,
      { ...LARGE, gaussiank: 130 },
    ],
    ['large gradient: QSGD takes longest (dense)', SMALL, { ...LARGE, none: 1000 }],
  ])('is refuted: %s', (text, small, large) => {
    expect(judged(a2sgdFigure4, taking(small, large))).toEqual({
      verdict: 'refuted',
      outcomes: [`fails: ${text}`],
    });
  });

  test('is refuted where a method is as fast on more workers', () => {
    const values: Values = (id, seed) =>
      id === 'a2sgd-small-p2' ? { time: 19 * (1 + seed) } : taking()(id, seed);
    expect(judged(a2sgdFigure4, values)).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: small gradient: every method takes longer with 8 workers than with 2 (A2SGD)',
      ],
    });
  });

  test('is undecided where seeds disagree', () => {
    const values: Values = (id, seed) =>
      id === 'topk-large-p8'
        ? { time: [60, 200, 600, 100, 300][seed]! }
        : taking()(id, seed);
    expect(judged(a2sgdFigure4, values)).toMatchObject({ verdict: 'undecided' });
  });
});

describe('the total time of training', () => {
  const WITH_8 = { none: 400, a2sgd: 80, gaussiank: 90, topk: 120, qsgd: 500 };
  /** ms of an iteration with either gradient; with two workers half as long. */
  const taking =
    (with8: Readonly<Record<string, number>> = WITH_8, share = 0.5): Values =>
    (id, seed) => {
      const time = with8[id.split('-')[0]!]!;
      return { time: (id.endsWith('-p2') ? time * share : time) * (1 + seed) };
    };

  test('is confirmed where all gain and the light methods scale', () => {
    expect(judged(a2sgdFigure5, taking())).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test.each([
    ['A2SGD scales better than the other three (top-k)', { ...WITH_8, a2sgd: 130 }],
    ['Gaussian-k scales better than the other three (top-k)', { ...WITH_8, topk: 85 }],
    ['A2SGD scales better than the other three (dense)', { ...WITH_8, none: 70 }],
  ])('is refuted where not: %s', (text, with8) => {
    const { outcomes, verdict } = judged(a2sgdFigure5, taking(with8));
    expect(verdict).toBe('refuted');
    expect(outcomes).toContainEqual(expect.stringContaining(text.replace(/ \(.*/, '')));
  });

  test('is refuted where four times as many workers take longer for an epoch', () => {
    const { outcomes, verdict } = judged(a2sgdFigure5, (id, seed) =>
      taking(WITH_8, id.startsWith('qsgd') ? 0.2 : 0.5)(id, seed),
    );
    expect(verdict).toBe('refuted');
    expect(outcomes).toEqual([
      'fails: small gradient: training takes less time with 8 workers (QSGD)',
      'fails: large gradient: training takes less time with 8 workers (QSGD)',
    ]);
  });
});

describe.each([a2sgdFigure3, a2sgdFigure3Resnet])(
  'accuracy of A2SGD: $id',
  (figure) => {
    const reaching =
      (
        accuracies: Readonly<Record<string, number>>,
        a2sgd = [0, 0, 0, 0, 0],
        averaged = accuracies,
      ): Values =>
      (id, seed) => {
        // A seed's own luck, the same for all methods.
        const luck = 0.01 * seed + (id === 'a2sgd' ? a2sgd[seed]! : 0);
        return { replicas: accuracies[id]! + luck, accuracy: averaged[id]! + luck };
      };
    const BEST = { none: 0.9, a2sgd: 0.895, qsgd: 0.88, topk: 0.8, gaussiank: 0.8 };

    test('is confirmed where it comes closest', () => {
      expect(judged(figure, reaching(BEST)).verdict).toBe('confirmed');
    });

    test('is refuted where one other comes closer', () => {
      expect(judged(figure, reaching({ ...BEST, qsgd: 0.897 }))).toEqual({
        verdict: 'refuted',
        outcomes: [
          'fails: A2SGD ends closer to dense SGD than QSGD (the workers’ own weights, their average)',
        ],
      });
    });

    test.each([
      ['the average of its weights', BEST, { ...BEST, qsgd: 0.897 }],
      ['its workers’ own weights', { ...BEST, qsgd: 0.897 }, BEST],
    ])('is undecided where one other comes closer than %s alone', (_, own, average) => {
      const { outcomes, verdict } = judged(
        figure,
        reaching(own, [0, 0, 0, 0, 0], average),
      );
      expect(verdict).toBe('undecided');
      expect(outcomes).toEqual(['unclear: A2SGD ends closer to dense SGD than QSGD']);
    });

    test('is undecided where seeds disagree', () => {
      expect(judged(figure, reaching(BEST, [0.02, -0.04, 0.03, -0.02, 0.03]))).toEqual({
        verdict: 'undecided',
        outcomes: [
          'unclear: A2SGD ends closer to dense SGD than QSGD (the workers’ own weights, their average)',
        ],
      });
    });
  },
);

describe('traffic', () => {
  const N: Readonly<Record<string, number>> = { 'lstm-small': 124_160, fnn3: 199_210 };
  const FACTORS: Readonly<Record<string, number>> = {
    none: 32,
    qsgd: 2.5,
    topk: 0.064,
    gaussiank: 0.06,
  };
  const sending =
    (changed: (method: string, n: number) => object | undefined = () => undefined) =>
    (id: string) => {
      const [, method, model] = /^(\w+?)-(.*)$/.exec(id)!;
      const n = N[model!]!;
      const bits = method === 'a2sgd' ? 64 : FACTORS[method!]! * n;
      return { bits, least: bits, most: bits, ...changed(method!, n) };
    };

  test('of two means is checked', () => {
    expect(judged(a2sgdTable2, sending())).toEqual({
      verdict: 'checked',
      outcomes: [],
    });
  });

  test('is not checked where one iteration takes more than two means', () => {
    const { verdict } = judged(
      a2sgdTable2,
      sending((method) => (method === 'a2sgd' ? { most: 128 } : undefined)),
    );
    expect(verdict).toBe('undecided');
  });

  test('is not checked where another method does not grow', () => {
    expect(
      judged(
        a2sgdTable2,
        sending((method) =>
          method === 'topk' ? { bits: 900, least: 900, most: 900 } : undefined,
        ),
      ),
    ).toEqual({
      verdict: 'undecided',
      outcomes: ['fails: top-k sends more for the larger model'],
    });
  });
});

describe('perplexity of A2SGD', () => {
  const reaching =
    (perplexities: Readonly<Record<string, number>>, averaged = perplexities): Values =>
    (id, seed) => ({
      replicas: perplexities[id]! * (1 + 0.01 * seed),
      metric: averaged[id]! * (1 + 0.01 * seed),
    });
  const BEST = { none: 1.6, a2sgd: 1.61, qsgd: 1.65, topk: 1.9, gaussiank: 1.9 };

  test('is confirmed where it comes closest', () => {
    expect(judged(a2sgdFigure3Lstm, reaching(BEST))).toEqual({
      verdict: 'confirmed',
      outcomes: [],
    });
  });

  test('is refuted where one other comes closer', () => {
    expect(judged(a2sgdFigure3Lstm, reaching({ ...BEST, qsgd: 1.6 }))).toEqual({
      verdict: 'refuted',
      outcomes: [
        'fails: A2SGD ends closer to dense SGD than QSGD (the workers’ own weights, their average)',
      ],
    });
  });

  test('is undecided where the average of its weights alone is far away', () => {
    const { verdict } = judged(a2sgdFigure3Lstm, reaching(BEST, { ...BEST, a2sgd: 4 }));
    expect(verdict).toBe('undecided');
  });

  test('is undecided where seeds disagree', () => {
    const values: Values = (id, seed) => {
      const value =
        id === 'qsgd'
          ? [1.58, 1.66, 1.6, 1.63, 1.59][seed]!
          : BEST[id as keyof typeof BEST];
      return { metric: value, replicas: value };
    };
    expect(judged(a2sgdFigure3Lstm, values).verdict).toBe('undecided');
  });
});
