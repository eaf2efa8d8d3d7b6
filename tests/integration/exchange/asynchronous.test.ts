/** Pushes to servers and pulls from them, over real sockets: exact, as arithmetic is here. */
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { connectRanks, given, leave, N, planSwitch, step } from './engine-ranks.ts';
import { LR, servingRanks, type Serving, type ServingRank } from './serving-ranks.ts';

afterEach(leave);

const atOnce = (): Promise<void> => Promise.resolve();

/** Lets the others go on: turns of the event loop, in place of time. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** What all ranks have once they have met. */
function shared(ranks: readonly ServingRank[]): Float32Array {
  const [first, ...others] = ranks.map(({ pushed }) => pushed.at(-1)!);
  for (const other of others) {
    expect(other.result.met).toBe(true);
    expect(other.iteration).toBe(first!.iteration);
    expect(other.weights).toEqual(first!.weights);
  }
  return first!.weights;
}

function expectBalanced(ranks: readonly ServingRank[]): void {
  for (const { pushed, rank } of ranks) {
    expect(rank.engine.ledgerImbalance()).toEqual({ sent: 0, received: 0 });
    for (const { result } of pushed) expect(result.bytes.imbalance).toBe(0);
  }
}

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
      for (const { pushed } of ranks) {
        for (const { iteration, result, staleness, weights: pulled } of pushed) {
          expect(staleness).toBe(0);
          expect(result.met).toBe(iteration === end - 1);
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
    await slow!.open();
    const ahead = fast!.run(atOnce);
    await fast!.reached(2);
    // It has the weights of iteration 2, and waits for those of iteration 3: without a bound it
    // would have them long before.
    await turns(100);
    expect(fast!.pushed.map(({ result }) => result.staleness)).toEqual([1, 2]);
    // Its own pushes are in what it pulled, the slow rank's are not.
    const own = (t: number): number => -(LR / 2) * (((t * 29) % 17) - 8);
    expect(fast!.pushed[1]!.weights[0]).toBe(own(0) + own(1));
    await slow!.step();
    await fast!.reached(3);
    expect(fast!.pushed.map(({ result }) => result.staleness)).toEqual([1, 2, 2]);
    await Promise.all([slow!.run(atOnce), ahead]);
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
        ...{ world: 4, servers: 1 + (seed % 4), staleness, end },
        // The last iterations send all that was kept back.
        switches: [
          planSwitch(1, 8, { method: 'randomk', ratio: 0.1 }),
          planSwitch(2, 16, { method: 'none' }),
        ],
      };
      const ranks = await servingRanks({ method: 'topk', ratio: 0.03 }, serving);
      let drawn = 0;
      const runs = ranks.map((rank) =>
        rank.run(() => turns(Math.floor(40 * random.uniform(drawn++)))),
      );
      await Promise.all(runs);
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
    const runs = ranks.map((rank, index) =>
      rank.run(async (iteration) => {
        await turns(10 * index);
        if (index === 2 && iteration === 5) rank.rank.engine.requestStop();
      }),
    );
    await Promise.all(runs);
    shared(ranks);
    for (const { pushed } of ranks) {
      const { iteration, result } = pushed.at(-1)!;
      expect(result.stop).toBe(true);
      // Who asked was in iteration 5; nobody was more than three ahead of it then.
      expect(iteration).toBeGreaterThanOrEqual(5);
      expect(iteration).toBeLessThanOrEqual(5 + 2 * 3);
    }
    expectBalanced(ranks);
  });

  it('switch at one iteration, whenever each of them hears of it', async () => {
    const serving = { world: 3, servers: 2, staleness: 2, end: 40 };
    const ranks = await servingRanks({ method: 'topk', ratio: 0.05 }, serving);
    const later = [3, 9, 6];
    const now = planSwitch(1, 0, { method: 'qsgd', minElements: 0 });
    const then = planSwitch(2, 25, { method: 'topk', ratio: 0.1 });
    const runs = ranks.map((rank, index) =>
      rank.run((iteration) => {
        if (iteration === later[index]) rank.rank.engine.learn(now);
        if (iteration === later[index]) rank.rank.engine.learn(then);
        return turns(10 * index);
      }),
    );
    await Promise.all(runs);
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
  });
});

describe('a rank that is lost', () => {
  it.each([
    { what: 'a worker', lost: 1, servers: 1 },
    { what: 'the server', lost: 0, servers: 1 },
    { what: 'one of the servers', lost: 2, servers: 3 },
  ])('$what is named by all others', async ({ lost, servers }) => {
    const serving = { world: 3, servers, staleness: 2, end: 1000 };
    const ranks = await servingRanks({ method: 'none' }, serving);
    const runs = ranks.map(async (rank, index) => {
      await rank.run(async (iteration) => {
        if (index !== lost || iteration < 4) return;
        rank.rank.engine.abort({
          ...{ code: 'TEST_LOST', kind: 'failure', message: 'lost' },
          rank: lost,
        });
        await Promise.reject(new Error('gone'));
      });
    });
    const ends = await Promise.allSettled(runs);
    for (const [index, end] of ends.entries()) {
      expect(end.status).toBe('rejected');
      if (end.status !== 'rejected' || index === lost) continue;
      expect(end.reason).toMatchObject({ code: 'TEST_LOST', rank: lost });
    }
  });

  it.each([0, 1])('one that closes its connections is, too: rank %i', async (lost) => {
    const serving = { world: 2, servers: 1, staleness: 1, end: 1000 };
    const ranks = await servingRanks({ method: 'none' }, serving);
    await Promise.all(ranks.map((rank) => rank.step()));
    const other = ranks[1 - lost]!;
    const fails = expect(other.run(atOnce)).rejects.toMatchObject({
      ...{ code: 'PEER_LOST', rank: lost },
    });
    await ranks[lost]!.rank.transport.close();
    await fails;
  });
});
