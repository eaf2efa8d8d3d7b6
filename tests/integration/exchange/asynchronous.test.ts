/** Pushes to servers and pulls from them, over real sockets: exact, as arithmetic is here. */
import { afterEach, describe, expect, it } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { connectRanks, given, leave, N, planSwitch, step } from './engine-ranks.ts';
import {
  atOnce,
  expectBalanced,
  LR,
  servingRanks,
  shared,
  turns,
  type Serving,
  type ServingRank,
} from './serving-ranks.ts';

afterEach(leave);

describe('without staleness', () => {
  const METHODS = [
    { method: 'none' },
    { method: 'none', bucketBytes: 1 },
    { method: 'topk', ratio: 0.05 },
    { method: 'topk', ratio: 0.05, layers: [{ match: 'b1', method: 'none' }] },
    { method: 'topk', ratio: 0.02, warmupIterations: 7 },
    { method: 'randomk', ratio: 0.1 },
    { method: 'threshold', threshold: 9 },
    { method: 'dct', ratio: 0.05, lifeSpan: 3 },
  ];
  const WORLDS = [
    { world: 1, servers: 1 },
    { world: 2, servers: 1 },
    { world: 4, servers: 3 },
  ];

  it.each(METHODS.flatMap((exchange) => WORLDS.map((world) => ({ exchange, world }))))(
    'weights are those of synchronous training, bit for bit: $exchange, $world',
    async ({ exchange, world }) => {
      const end = 50;
      const together = await connectRanks(exchange, [], world.world);
      const expected: Float32Array[] = [];
      const weights = new Float32Array(N);
      for (let t = 0; t < end; t++) {
        const average = await step(together, t);
        for (let i = 0; i < N; i++) weights[i]! -= LR * average[i]!;
        expected.push(weights.slice());
      }
      await leave();
      const ranks = await servingRanks(exchange, { ...world, staleness: 0, end });
      await Promise.all(ranks.map((rank) => rank.run(atOnce)));
      for (const { begun, pushed } of ranks) {
        for (const { iteration, met, staleness } of pushed) {
          expect(staleness).toBe(0);
          expect(met).toBe(iteration === end - 1);
          const pulled = begun.get(iteration + 1);
          expect(pulled, `iteration ${iteration}`).toEqual(expected[iteration]);
        }
      }
      expectBalanced(ranks);
    },
  );

  it('what a method leaves behind is pushed with the next gradient', async () => {
    const end = 9;
    const switches = [planSwitch(1, 6, { method: 'none' })];
    const exchange = { method: 'topk', ratio: 0.02 };
    const serving = { world: 4, servers: 2, staleness: 0, end, switches };
    const ranks = await servingRanks(exchange, serving);
    await Promise.all(ranks.map((rank) => rank.run(atOnce)));
    const all = given(end, 4).map((sum) => (-LR * sum) / 4);
    expect(Array.from(shared(ranks))).toEqual(all.map((value) => value + 0));
    for (const { pushed } of ranks) {
      expect(pushed.map(({ fences }) => fences.length)).toEqual(
        Array.from({ length: end }, (_, t) => Number(t === 5)),
      );
    }
  });
});

describe('with staleness', () => {
  it('a fast rank goes ahead as far as it may, and no further', async () => {
    const serving = { world: 2, staleness: 2, end: 6 };
    const [fast, slow] = await servingRanks({ method: 'none' }, serving);
    const gates = Array.from({ length: 6 }, () => Promise.withResolvers<unknown>());
    const behind = slow!.run((iteration) => gates[iteration]!.promise);
    const ahead = fast!.run(atOnce);
    await fast!.reached(2);
    // It has the weights of iteration 2, and waits for those of iteration 3: without a bound it
    // would have them long before.
    await turns(100);
    const lacking = () =>
      fast!.pushed.map(({ result: { asked } }) => asked?.begins && asked.staleness);
    expect(lacking()).toEqual([1, 2]);
    // Its own pushes are in what it pulled, the slow rank's are not.
    const own = (t: number): number => -(LR / 2) * (((t * 29) % 17) - 8);
    expect(fast!.begun.get(2)![0]).toBe(own(0) + own(1));
    gates[0]!.resolve(undefined);
    await fast!.reached(3);
    expect(lacking()).toEqual([1, 2, 2]);
    for (const { resolve } of gates) resolve(undefined);
    await Promise.all([behind, ahead]);
    expect(Array.from(shared([fast!, slow!]))).toEqual(
      given(6, 2).map((sum) => (-LR * sum) / 2 + 0),
    );
  });

  it.each([1, 2, 3, 4, 5, 6])(
    'loses nothing, whoever comes when, and keeps the bound: lot %i',
    async (seed) => {
      const random = new CounterRandom({ seed });
      const staleness = seed % 4;
      const end = 24;
      const serving: Serving = {
        world: 4,
        servers: 1 + (seed % 4),
        staleness,
        end,
        // The last iterations send all that was kept back.
        switches: [
          planSwitch(1, 8, { method: 'randomk', ratio: 0.1 }),
          planSwitch(2, 16, { method: 'none' }),
        ],
      };
      const ranks = await servingRanks({ method: 'topk', ratio: 0.03 }, serving);
      let drawn = 0;
      const all = ranks.map((rank) =>
        rank.run(() => turns(Math.floor(40 * random.uniform(drawn++)))),
      );
      await Promise.all(all);
      expect(Array.from(shared(ranks))).toEqual(
        given(end, 4).map((sum) => (-LR * sum) / 4 + 0),
      );
      for (const { pushed } of ranks) {
        for (const one of pushed) {
          expect(one.staleness).toBeGreaterThanOrEqual(0);
          expect(one.staleness).toBeLessThanOrEqual(staleness);
        }
      }
      expectBalanced(ranks);
    },
  );
});

describe('ranks that have something to agree on', () => {
  it.each([1, 3])('stop at one iteration, by %i servers', async (servers) => {
    const serving = { world: 3, servers, staleness: 3, end: 1000 };
    const ranks = await servingRanks({ method: 'none' }, serving);
    const all = ranks.map((rank, index) =>
      rank.run(async (iteration) => {
        await turns(10 * index);
        if (index === 2 && iteration === 5) rank.rank.engine.requestStop();
      }),
    );
    await Promise.all(all);
    shared(ranks);
    for (const { pushed } of ranks) {
      const { iteration, stop } = pushed.at(-1)!;
      expect(stop).toBe(true);
      // Who asked was in iteration 5; nobody was more than three ahead of it then.
      expect(iteration).toBeGreaterThanOrEqual(5);
      expect(iteration).toBeLessThanOrEqual(5 + 2 * 3);
    }
    expectBalanced(ranks);
  });

  it.each([1, 2, 3])('stop behind what %i threads have begun', async (threads) => {
    const serving = { world: 2, staleness: 4, end: 1000, trainerThreads: threads };
    const ranks = await servingRanks({ method: 'none' }, serving);
    ranks[1]!.rank.engine.requestStop();
    await Promise.all(ranks.map((rank) => rank.run(atOnce)));
    shared(ranks);
    for (const { pushed } of ranks) {
      expect(pushed.at(-1)!.stop).toBe(true);
      expect(pushed.length).toBeGreaterThanOrEqual(threads);
      expect(pushed.length).toBeLessThanOrEqual(threads + 2 * 4);
    }
    expectBalanced(ranks);
  });

  it.each([1, 2, 3, 4, 5, 6].map((seed) => ({ seed, threads: 2 + (seed % 3) })))(
    'stop at one iteration with $threads threads a rank: lot $seed',
    async (lot) => {
      const random = new CounterRandom({ seed: lot.seed });
      const trainerThreads = lot.threads;
      const serving = { world: 3, staleness: 8, end: 1000, trainerThreads };
      const ranks = await servingRanks({ method: 'none' }, serving);
      let drawn = 0;
      const all = ranks.map((rank, index) =>
        rank.run(async (iteration) => {
          await turns(Math.floor(3 * random.uniform(drawn++)));
          if (index === 1 && iteration === 9) rank.rank.engine.requestStop();
        }),
      );
      await Promise.all(all);
      shared(ranks);
      for (const { pushed } of ranks) {
        expect(pushed.at(-1)!.stop).toBe(true);
        expect(pushed.length).toBeLessThanOrEqual(10 + 3 * 8);
      }
      expectBalanced(ranks);
    },
  );

  it.each([
    [1, 2],
    [2, 2],
    [3, 5],
  ])(
    'switch at one iteration, whenever each of them hears of it: %i threads',
    async (trainerThreads, staleness) => {
      const serving = { world: 3, servers: 2, staleness, end: 40, trainerThreads };
      const ranks = await servingRanks({ method: 'topk', ratio: 0.05 }, serving);
      const later = [3, 9, 6];
      const now = planSwitch(1, 0, { method: 'qsgd', minElements: 0 });
      const then = planSwitch(2, 25, { method: 'topk', ratio: 0.1 });
      const all = ranks.map((rank, index) =>
        rank.run((iteration) => {
          if (iteration === later[index]) rank.rank.engine.learn(now);
          if (iteration === later[index]) rank.rank.engine.learn(then);
          return turns(10 * index);
        }),
      );
      await Promise.all(all);
      shared(ranks);
      const fencesOf = ({ pushed }: ServingRank): readonly (readonly number[])[] =>
        pushed.flatMap(({ fences, iteration }) =>
          fences.map(({ planSwitch: { epoch } }) => [epoch, iteration + 1] as const),
        );
      const [first, ...others] = ranks.map(fencesOf);
      expect(first!.map(([epoch]) => epoch)).toEqual([1, 2]);
      expect(first![0]![1]).toBeGreaterThanOrEqual(9);
      expect(first![1]![1]).toBe(25);
      for (const other of others) expect(other).toEqual(first);
      for (const { pushed } of ranks) {
        const fence = first![0]![1]!;
        expect(pushed[fence - 1]!.result.method).toBe('topk');
        expect(pushed[fence]!.result.method).toBe('qsgd');
      }
      expectBalanced(ranks);
    },
  );
});

describe('a rank that is lost', () => {
  it.each([
    { what: 'a worker', lost: 1, servers: 1 },
    { what: 'the server', lost: 0, servers: 1 },
    { what: 'one of the servers', lost: 2, servers: 3 },
  ])('$what is named by all others', async ({ lost, servers }) => {
    const serving = { world: 3, servers, staleness: 2, end: 1000 };
    const ranks = await servingRanks({ method: 'none' }, serving);
    const all = ranks.map(async (rank, index) => {
      await rank.run(async (iteration) => {
        if (index !== lost || iteration < 4) return;
        rank.rank.engine.abort({
          code: 'TEST_LOST',
          kind: 'failure',
          message: 'lost',
          rank: lost,
        });
        await Promise.reject(new Error('gone'));
      });
    });
    const ends = await Promise.allSettled(all);
    for (const [index, end] of ends.entries()) {
      expect(end.status).toBe('rejected');
      if (end.status !== 'rejected' || index === lost) continue;
      expect(end.reason).toMatchObject({ code: 'TEST_LOST', rank: lost });
    }
  });

  it.each([0, 1])('one that closes its connections is, too: rank %i', async (lost) => {
    const serving = { world: 2, servers: 1, staleness: 1, end: 1000 };
    const ranks = await servingRanks({ method: 'none' }, serving);
    const fails = expect(ranks[1 - lost]!.run(atOnce)).rejects.toMatchObject({
      code: 'PEER_LOST',
      rank: lost,
    });
    const ends = ranks[lost]!.run(async (iteration) => {
      if (iteration === 1) await ranks[lost]!.rank.transport.close();
    });
    await expect(ends).rejects.toThrow();
    await fails;
  });
});
