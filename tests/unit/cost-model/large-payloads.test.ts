/**
 * Predictions of 64 KB to 256 MB between 2 and 16 ranks: numbers, which grow with bytes and ranks,
 * and at the largest of both the sums of the papers' formulas, written out here.
 */
import { describe, expect, test } from 'vitest';
import type { ExchangeShape } from '../../../src/agent/collectives/collective.ts';
import { predict } from '../../../src/agent/collectives/prediction.ts';
import {
  collectives,
  findCollective,
} from '../../../src/agent/collectives/registry.ts';
import {
  LOOPBACK,
  type NetworkCost,
} from '../../../src/shared/cost-model/network-cost.ts';

const MB = 2 ** 20;
const RANKS = [2, 4, 8, 16];
const SIZES = [MB / 16, MB / 4, MB, 4 * MB, 16 * MB, 64 * MB, 256 * MB];

/** Gigabit Ethernet, with a price for everything. */
const GIGABIT = {
  alpha: 50e-6,
  beta: 8.5e-9,
  gamma: 0.3e-9,
  merge: 4e-9,
  scatter: 1.5e-9,
} satisfies NetworkCost;

const ring = { collective: 'ring', ranks: 8 };
const NETWORKS: Readonly<Record<string, NetworkCost>> = {
  loopback: LOOPBACK,
  gigabit: GIGABIT,
  'rates by size': {
    ...GIGABIT,
    overhead: 8e-6,
    rates: [
      { bytes: 4096, beta: 2e-9 },
      { bytes: MB, beta: 8e-9 },
      { bytes: 16 * MB, beta: 8.6e-9 },
    ],
  },
  'timed collectives': {
    ...GIGABIT,
    timed: {
      network: GIGABIT,
      collectives: [
        { ...ring, length: 2 ** 14, seconds: 2e-3, predicted: 1e-3 },
        { ...ring, length: 2 ** 18, seconds: 1e-2, predicted: 1.6e-2 },
      ],
    },
  },
  'all free': { alpha: 0, beta: 0, gamma: 0 },
};

const dense = (ranks: number, bytes: number): ExchangeShape => ({
  ranks,
  length: bytes / 4,
  payloadBytes: bytes,
});

/** Pairs of eight bytes out of a hundred times as many elements. */
const sparse = (ranks: number, bytes: number): ExchangeShape => ({
  ranks,
  length: (100 * bytes) / 8,
  payloadBytes: bytes,
  nnz: bytes / 8,
});

const cases = [...collectives.values()].flatMap((collective) =>
  (['dense', 'sparse'] as const)
    .filter((kind) => collective.takes.includes(kind))
    .map((kind) => ({
      collective,
      kind,
      shapeOf: kind === 'dense' ? dense : sparse,
    })),
);

describe.each(Object.entries(NETWORKS))('%s', (_, network) => {
  test.each(cases)(
    '$collective.id of $kind vectors: numbers, which grow with bytes and ranks',
    ({ collective, shapeOf }) => {
      const at = (ranks: number, bytes: number): number => {
        const prediction = predict(collective, shapeOf(ranks, bytes), network);
        const { bandwidth, latency, reduction, seconds, wireBytes } = prediction;
        for (const value of [bandwidth, latency, reduction, seconds, wireBytes]) {
          const where = `P = ${ranks}, ${bytes} B`;
          expect(Number.isFinite(value) && value >= 0, where).toBe(true);
        }
        return seconds;
      };
      for (const ranks of [...RANKS, 1, 3, 5, 6, 7, 12, 15]) {
        const seconds = [0, ...SIZES].map((bytes) => at(ranks, bytes));
        expect(seconds, `P = ${ranks}`).toEqual(seconds.toSorted((a, b) => a - b));
        const [none] = seconds;
        if (ranks > 1 && network.beta > 0)
          expect(seconds.at(-1)).toBeGreaterThan(none!);
      }
      // Only between powers of two: others fold in pairs first, which costs more than to have a rank more.
      if (network.timed !== undefined) return;
      for (const bytes of SIZES) {
        const seconds = RANKS.map((ranks) => at(ranks, bytes));
        expect(seconds, `${bytes} B`).toEqual(seconds.toSorted((a, b) => a - b));
      }
    },
  );
});

describe('256 MB between 16 ranks', () => {
  const P = 16;
  const rounds = 4; // log₂P
  const bytes = 268_435_456;
  const { alpha: α, beta: β, gamma: γ, merge } = GIGABIT;

  /** Seconds of a dense sum by its formula. N: elements, 4 bytes each. */
  const N = 67_108_864;
  const DENSE: readonly (readonly [id: string, seconds: number])[] = [
    // Of 16 MB, a part has 64 chunks, of which 63 are added while the next one travels.
    ['ring', 30 * α + (30 / 16) * N * 4 * β + ((15 / 16) * N * γ) / 64],
    ['recursive-doubling', rounds * (α + N * 4 * β + N * γ)],
    [
      'rabenseifner',
      2 * rounds * α +
        2 * (1 / 2 + 1 / 4 + 1 / 8 + 1 / 16) * N * 4 * β +
        (15 / 16) * N * γ,
    ],
    [
      'scatter-reduce-allgather',
      (15 + rounds) * α + 2 * 15 * (N / 16) * 4 * β + 15 * (N / 16) * γ,
    ],
    ['parameter-server', 2 * 15 * (α + N * 4 * β) + 15 * N * γ],
  ];

  test.each(DENSE)('%s takes %d s', (id, seconds) => {
    const predicted = predict(findCollective(id), dense(P, bytes), GIGABIT).seconds;
    expect(predicted / seconds).toBeCloseTo(1, 9);
  });

  /** SparCML's k, each of eight bytes; N is so large that streams stay sparse. */
  const k = bytes / 8;
  const βs = 8 * β;
  const terms = (id: string, nnzReduced: number) =>
    predict(
      findCollective(id),
      { ranks: P, length: 2 ** 50, payloadBytes: bytes, nnz: k, nnzReduced },
      GIGABIT,
    );

  test('sparse sums are at the bounds of the paper', () => {
    const doubling = 'ssar-recursive-doubling';
    for (const [K, times] of [
      [k, rounds],
      [P * k, P - 1],
    ] as const) {
      const { bandwidth, latency } = terms(doubling, K);
      expect(latency).toBeCloseTo(rounds * α, 12);
      expect(bandwidth / (times * k * βs)).toBeCloseTo(1, 4);
    }
    const split = 'ssar-split-allgather';
    expect(terms(split, k).bandwidth / (((2 * 15) / 16) * k * βs)).toBeCloseTo(1, 4);
    const disjoint = terms(split, P * k).bandwidth / (P * k * βs);
    expect(disjoint).toBeLessThanOrEqual(1);
    expect(disjoint).toBeGreaterThan(0.99);
    const gathered = terms('sparse-allgather', P * k);
    expect(gathered.latency + gathered.bandwidth).toBeCloseTo(15 * (α + k * βs), 9);
    // Entries of two streams are merged in each round, those of 2, 4, 8 and 16 ranks.
    const merged = (2 + 4 + 8 + 16) * k * merge;
    expect(terms(doubling, P * k).reduction / merged).toBeCloseTo(1, 4);
  });
});
