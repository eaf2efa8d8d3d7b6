/**
 * `ok-topk` against an oracle on integers, for any P, any N and whatever entries the ranks
 * have; and what it remembers.
 */
import { describe, expect, test } from 'vitest';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { effort } from '../../harness/effort.ts';
import { delayed } from './delayed-transport.ts';
import { lying } from './lying-transport.ts';
import {
  firstDifference,
  floats,
  generator,
  integers,
  runRank,
  sameBits,
  type Outcome,
} from './run-collective.ts';
import { TopSumOracle } from './top-sum-oracle.ts';
import { closesSockets } from './open-sockets.ts';
import { BACKENDS, makeWorld } from './world.ts';
import { exchange, okTopk, scattered } from './ok-topk-exchange.ts';

closesSockets();

const ALL = {
  lengths: [0, 1, 2, 3, 17, 1000, 5003],
  densities: [0, 0.001, 0.05, 0.3, 1],
  /** Of which the first finds a threshold and the others use it. */
  turns: effort({ quick: 2, soak: 3 }),
};

/** Fewer elements than ranks, a few, many. */
const FEW = effort({
  quick: { lengths: [0, 3, 17, 1000], densities: [0, 0.05, 1], turns: 2 },
  soak: ALL,
});

describe('its result', () => {
  test.each(effort({ quick: [1, 2, 3, 5, 8], soak: [1, 2, 3, 4, 5, 6, 7, 8, 9, 16] }))(
    'P = %d: the largest entries of the sum, on all ranks',
    async (ranks) => {
      const backends = effort({ quick: ranks === 3, soak: ranks <= 4 });
      const { lengths, densities, turns } = ranks > 5 ? FEW : ALL;
      for (const backend of backends ? BACKENDS : (['wasm'] as const)) {
        await using world = await makeWorld(ranks, { backend });
        for (const length of lengths) {
          for (const density of densities) {
            const communicators = world.communicators();
            const oracle = new TopSumOracle();
            for (let turn = 0; turn < turns; turn++) {
              const inputs = communicators.map((_, rank) =>
                integers(rank + 100 * turn, length, density),
              );
              // A rank by itself sends nothing, and so leaves nothing out.
              const expected = ranks === 1 ? inputs[0]! : oracle.next(inputs);
              for (const { sum } of await exchange(communicators, inputs)) {
                expect(
                  firstDifference(sum, expected),
                  `N ${length}, d ${density}, turn ${turn}`,
                ).toBe(-1);
              }
            }
          }
        }
      }
    },
  );

  test.each([
    ['all the same', () => scattered(1, 4000, 50)],
    [
      'disjoint',
      (rank: number) => scattered(rank, 4000, 50, [800 * rank, 800 * rank + 800]),
    ],
    ['of one rank alone', (rank: number) => scattered(1, 4000, rank === 3 ? 200 : 0)],
    ['crowded at the end', (rank: number) => scattered(rank, 4000, 90, [3900, 4000])],
    [
      'cancelling to 0',
      (rank: number) => scattered(1, 4000, 60).map((x) => x * [1, -1, 1, -1, 0][rank]!),
    ],
    ['everything, of every rank', (rank: number) => scattered(rank, 40, 40)],
    ['equal', (rank: number) => scattered(rank, 4000, 50).map(Math.sign)],
    [
      'equal but for a few larger ones',
      (rank: number) =>
        scattered(rank, 4000, 50).map((x, i) => Math.sign(x) * (i % 100 ? 1 : 3)),
    ],
    [
      'equal, of one rank alone',
      (rank: number) => scattered(1, 4000, rank === 3 ? 200 : 0).map(Math.sign),
    ],
  ])('entries that are %s', async (_, inputOf) => {
    await using world = await makeWorld(5);
    const communicators = world.communicators();
    const oracle = new TopSumOracle();
    for (let turn = 0; turn < 3; turn++) {
      const inputs = communicators.map((_, rank) => inputOf(rank));
      const expected = oracle.next(inputs);
      for (const { sum } of await exchange(communicators, inputs)) {
        expect(sum).toEqual(expected.map((value) => value + 0));
      }
    }
  });
});

describe('from exchange to exchange', () => {
  /** Values drift, then are suddenly a hundred times larger, then as before. */
  const drifting = (rank: number, turn: number): Float32Array => {
    const factor = turn >= 40 && turn < 50 ? 100 : 1;
    const input = scattered(1000 * turn + rank, 3000, 60 + (turn % 7));
    return input.map((value) => value * factor);
  };

  test.each([3, 4])(
    'P = %d: it goes by the threshold and the ranges',
    async (ranks) => {
      await using world = await makeWorld(ranks);
      const communicators = world.communicators();
      const oracle = new TopSumOracle();
      const kept: number[] = [];
      for (let turn = 0; turn < 70; turn++) {
        const inputs = communicators.map((_, rank) => drifting(rank, turn));
        const expected = oracle.next(inputs);
        const [outcome, ...others] = await exchange(communicators, inputs);
        expect(outcome!.sum, `turn ${turn}`).toEqual(expected);
        for (const { sum } of others) expect(sameBits(sum, outcome!.sum)).toBe(true);
        kept.push(outcome!.count! / (60 + (turn % 7)));
      }
      // Never beyond the band, and not always exactly k: the threshold is used again.
      expect(Math.min(...kept)).toBeGreaterThanOrEqual(0.5);
      expect(Math.max(...kept)).toBeLessThanOrEqual(2);
      expect(kept.filter((share) => share === 1).length).toBeLessThan(30);
    },
  );

  test('saved and restored, it goes on with the same bits and the same bytes', async () => {
    const run = async (
      turns: readonly number[],
      saved?: readonly unknown[],
    ): Promise<{ outcomes: Outcome[][]; memory: unknown[] }> => {
      await using world = await makeWorld(3);
      const communicators = world.communicators();
      for (const [rank, { kept }] of communicators.entries()) {
        if (saved !== undefined) kept.restore(saved[rank]);
      }
      const outcomes: Outcome[][] = [];
      for (const turn of turns) {
        const inputs = communicators.map((_, rank) =>
          floats(10 * turn + rank, 2000, 0.03),
        );
        outcomes.push(await exchange(communicators, inputs));
      }
      const memory = communicators.map(({ kept }): unknown =>
        JSON.parse(JSON.stringify(kept.save())),
      );
      return { outcomes, memory };
    };
    const whole = await run([0, 1, 2, 3]);
    const begun = await run([0, 1]);
    const resumed = await run([2, 3], begun.memory);
    const anew = await run([2, 3]);
    const bits = ({ outcomes }: typeof whole): readonly Buffer[] =>
      outcomes
        .slice(-2)
        .flat()
        .map(({ sum }) => Buffer.from(sum.buffer));
    const bytes = ({ outcomes }: typeof whole): readonly number[] =>
      outcomes
        .slice(-2)
        .flat()
        .map(({ sentBytes }) => sentBytes);
    expect(bits(resumed)).toEqual(bits(whole));
    expect(bytes(resumed)).toEqual(bytes(whole));
    expect(resumed.memory).toEqual(whole.memory);
    // Without what it remembers it would have agreed anew, and on something else.
    expect(bits(anew)).not.toEqual(bits(whole));
  });

  test('what is not its memory is refused', async () => {
    await using world = await makeWorld(1);
    const [{ kept }] = world.communicators() as [TransportCommunicator];
    expect(() => {
      kept.restore({ 'ok-topk': ['x'] });
    }).toThrow(expect.objectContaining({ code: 'COLLECTIVE_STATE_INVALID' }));
  });

  test('a new length resets the ranges, a new epoch does not', async () => {
    await using world = await makeWorld(2);
    const communicators = world.communicators();
    const make = (length: number) =>
      communicators.map((_, r) => integers(r, length, 0.1));
    await exchange(communicators, make(1000));
    const [first] = communicators as [TransportCommunicator];
    expect(first.kept.save()['ok-topk']!.slice(0, 2)).toEqual([1000, 1]);
    await exchange(communicators, make(1000));
    await exchange(communicators, make(999));
    expect(first.kept.save()['ok-topk']!.slice(0, 2)).toEqual([999, 1]);
    first.begin({ epoch: 1, operation: 10, dtype: 1 });
    expect(first.kept.save()['ok-topk']!.slice(0, 2)).toEqual([999, 1]);
  });

  test('several at once, in any timing', async () => {
    const random = generator(5);
    await using world = await makeWorld(4, {
      wrap: (transport) => delayed(transport, random),
    });
    await Promise.all(
      [500, 900, 0, 77].map(async (length, stream) => {
        const communicators = world.communicators();
        const oracle = new TopSumOracle();
        for (let turn = 0; turn < 4; turn++) {
          const inputs = communicators.map((_, rank) =>
            integers(rank + 10 * turn + 100 * stream, length, 0.2),
          );
          const expected = oracle.next(inputs);
          for (const { sum } of await exchange(communicators, inputs)) {
            expect(sum).toEqual(expected);
          }
        }
      }),
    );
  });
});

describe('what a peer cannot have', () => {
  // Of two ranks: a histogram, the other's part, eight digits, counts, and what is kept.
  test.each([
    ['indices out of order', 1, 2, /^rank 1 sent index/],
    [
      'more entries than elements',
      10,
      0,
      /^rank 1 sent a count of 4294967295 entries for/,
    ],
    [
      'an index beyond the vector',
      11,
      0,
      /^rank 1 sent an index that is out of order or not below/,
    ],
  ])('%s', async (_, message, word, says) => {
    await using world = await makeWorld(2, {
      wrap: (transport) =>
        transport.rank === 0
          ? transport
          : lying(transport, message, (words) => {
              words[word] = 0xffff_ffff;
            }),
    });
    const [honest, liar] = world.communicators();
    const run = (communicator: TransportCommunicator, rank: number): Promise<Outcome> =>
      runRank(okTopk, communicator, 'sparse', scattered(rank, 1000, 50));
    const theirs = Promise.allSettled([run(liar!, 1)]);
    await expect(run(honest!, 0)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      rank: 1,
      message: expect.stringMatching(says) as string,
    });
    await world[Symbol.asyncDispose]();
    await theirs;
  });

  test('more ties than entries', async () => {
    // Of three ranks whose entries are equal. In front of ties: two messages each for
    // histograms, parts, eight digits and counts.
    await using world = await makeWorld(3, {
      wrap: (transport) =>
        transport.rank === 1
          ? lying(transport, 22, (words) => {
              words[0] = 0xffff_ffff;
            })
          : transport,
    });
    const [honest, ...others] = world.communicators();
    const run = (communicator: TransportCommunicator, rank: number): Promise<Outcome> =>
      runRank(okTopk, communicator, 'sparse', scattered(rank, 3000, 50).map(Math.sign));
    const theirs = Promise.allSettled(
      others.map((other, index) => run(other, index + 1)),
    );
    await expect(run(honest!, 0)).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      rank: 1,
      message: expect.stringMatching(
        /^rank 1 sent a count of 4294967295 ties/,
      ) as string,
    });
    await world[Symbol.asyncDispose]();
    await theirs;
  });
});
