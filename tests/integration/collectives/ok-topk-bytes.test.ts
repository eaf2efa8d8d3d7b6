/** Bytes of `ok-topk`: bounded however many ranks there are, and wherever the entries stand. */
import { describe, expect, test } from 'vitest';
import { effort } from '../../harness/effort.ts';
import { entryCount } from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import { makeWorld } from './world.ts';
import { exchange, okTopk, scattered } from './ok-topk-exchange.ts';

/** Headers of streams and counts, histograms and counts of digits, and then some. */
const AGREEMENT_BYTES = 8000;

closesSockets();

describe('its messages', () => {
  const LENGTH = 100_000;
  const K = 1000;

  /** The most that a rank sends and receives in the exchanges, in entries of 8 bytes. */
  async function busiest(
    ranks: number,
    inputOf: (rank: number, turn: number) => Float32Array,
  ): Promise<{ first: number; later: number }> {
    await using world = await makeWorld(ranks);
    const communicators = world.communicators();
    const entries: number[] = [];
    for (let turn = 0; turn < 4; turn++) {
      const inputs = communicators.map((_, rank) => inputOf(rank, turn));
      const outcomes = await exchange(communicators, inputs);
      const bytes = outcomes.flatMap(({ sentBytes, receivedBytes }) => [
        sentBytes,
        receivedBytes,
      ]);
      entries.push(Math.max(...bytes) / 8);
    }
    const [first, ...later] = entries;
    return { first: first!, later: Math.max(...later) };
  }

  test.each(effort({ quick: [2, 3, 8], soak: [2, 3, 4, 8, 16] }))(
    'P = %d: less than 6k entries, however many ranks there are',
    async (ranks) => {
      const { first, later } = await busiest(ranks, (rank, turn) =>
        scattered(100 * turn + rank, LENGTH, K),
      );
      expect(first).toBeLessThan(6 * K + AGREEMENT_BYTES / 8);
      // What the formula says, less what the lot makes uneven.
      const formula = okTopk.wireBytes({ ranks, length: LENGTH, payloadBytes: 8 * K });
      expect(later).toBeLessThan((1.3 * formula) / 8);
      expect(later).toBeGreaterThan((0.8 * formula) / 8);
      expect(later).toBeLessThan(2.6 * K);
    },
  );

  test('no more where all entries are in a fiftieth of the vector', async () => {
    const { first, later } = await busiest(8, (rank, turn) =>
      scattered(100 * turn + rank, LENGTH, K, [96_000, 98_000]),
    );
    expect(first).toBeLessThan(3 * K + AGREEMENT_BYTES / 8);
    expect(later).toBeLessThan(3 * K);
  });

  test('no more where what is kept is all in one range', async () => {
    const ranks = 16;
    const { later } = await busiest(ranks, (rank, turn) => {
      const input = scattered(100 * turn + rank, LENGTH, K);
      return input.map((value, index) =>
        index < LENGTH / ranks ? 4000 * value : value,
      );
    });
    // Passed on by one rank alone they would be 4·K in the doubling rounds, beside the split.
    expect(later).toBeLessThan(3.5 * K);
  });
});

describe('the bound: c + 4k + P entries of a rank that has c', () => {
  const LENGTH = 60_000;
  const K = 2000;
  const own = (rank: number): readonly [number, number] => [
    6000 * rank,
    6000 * (rank + 1),
  ];

  const CASES: Readonly<Record<string, (rank: number, ranks: number) => Float32Array>> =
    {
      'equal values': (rank) => scattered(rank, LENGTH, K).map(Math.sign),
      'equal values, disjoint': (rank) =>
        scattered(rank, LENGTH, K, [...own(rank)]).map(Math.sign),
      'one rank has all': (rank, ranks) =>
        scattered(1, LENGTH, rank === 1 ? ranks * K : 0),
      'one rank has all, equal values': (rank, ranks) =>
        scattered(1, LENGTH, rank === 1 ? ranks * K : 0).map(Math.sign),
      disjoint: (rank) => scattered(rank, LENGTH, K, [...own(rank)]),
      identical: () => scattered(1, LENGTH, K),
      'large in one range': (rank) =>
        scattered(rank, LENGTH, K).map((x, i) => (i < 3000 ? 4000 * x : Math.sign(x))),
    };

  const worlds = effort({ quick: [2, 5], soak: [2, 3, 4, 5, 6, 7, 8, 9] });

  test.each(worlds)('P = %d', async (ranks) => {
    await using world = await makeWorld(ranks);
    for (const [name, inputOf] of Object.entries(CASES)) {
      const communicators = world.communicators();
      const inputs = communicators.map((_, rank) => inputOf(rank, ranks));
      for (let turn = 0; turn < 2; turn++) {
        const outcomes = await exchange(communicators, inputs);
        for (const [rank, { count, sentBytes }] of outcomes.entries()) {
          expect(count, name).toBeLessThanOrEqual(2 * K);
          expect(count, name).toBeGreaterThanOrEqual(K / 2);
          const c = entryCount(inputs[rank]!);
          const bound = 8 * (c + 4 * K + ranks) + AGREEMENT_BYTES;
          expect(sentBytes, `${name}, rank ${rank}`).toBeLessThanOrEqual(bound);
        }
      }
    }
  });
});
