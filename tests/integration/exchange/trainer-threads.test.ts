/** Several trainer threads of a rank that push to servers: exact, in any order and within the bound. */
import { afterEach, describe, expect, it } from 'vitest';
import { CounterRandom } from '../../../src/agent/kernels/random.ts';
import { runs } from '../../harness/effort.ts';
import { given, leave, planSwitch } from './engine-ranks.ts';
import {
  atOnce,
  expectBalanced,
  LR,
  servingRanks,
  shared,
  turns,
  type Serving,
} from './serving-ranks.ts';

afterEach(leave);

/** Seeds of what is drawn: these, or fifty times their number in the soak. */
const seedsFrom = (quick: number): readonly number[] =>
  Array.from({ length: runs(quick) }, (_, i) => i + 1);

describe('several trainer threads of a rank', () => {
  const WORLDS = [
    { world: 1, servers: 1, trainerThreads: 3, staleness: 2 },
    { world: 2, servers: 1, trainerThreads: 2, staleness: 1 },
    { world: 4, servers: 3, trainerThreads: 2, staleness: 3 },
    { world: 4, servers: 1, trainerThreads: 4, staleness: 5 },
  ];

  it.each(
    WORLDS.flatMap((shape) =>
      [undefined, 5].flatMap((drainEvery) =>
        seedsFrom(3).map((seed) => ({ shape, drainEvery, seed })),
      ),
    ),
  )(
    'what was added is what was sent and what remains, whoever comes when: $shape, $drainEvery, $seed',
    async ({ drainEvery, seed, shape }) => {
      const random = new CounterRandom({ seed });
      const { staleness, trainerThreads, world } = shape;
      const end = 30;
      const serving: Serving = {
        ...shape,
        end,
        ...(drainEvery === undefined ? {} : { drainEvery }),
        switches: [planSwitch(1, 17, { method: 'dct', ratio: 0.05, lifeSpan: 4 })],
      };
      const ranks = await servingRanks({ method: 'topk', ratio: 0.03 }, serving);
      let drawn = 0;
      const all = ranks.map((rank) =>
        rank.run(() => turns(Math.floor(40 * random.uniform(drawn++)))),
      );
      await Promise.all(all);
      const kept = await Promise.all(ranks.map(({ rank }) => rank.engine.save()));
      const sent = Array.from(shared(ranks), (weight) => (-weight * world) / LR);
      const remains = sent.map((_, i) =>
        kept.reduce((sum, { residual }) => sum + residual![i]!, 0),
      );
      expect(sent.map((value, i) => value + remains[i]! + 0)).toEqual(
        given(end, world),
      );
      for (const { pushed } of ranks) {
        expect(pushed.map(({ iteration }) => iteration)).toEqual(
          Array.from({ length: end }, (_, t) => t),
        );
        for (const one of pushed) {
          expect(one.staleness).toBeGreaterThanOrEqual(0);
          expect(one.staleness).toBeLessThanOrEqual(staleness);
        }
        const threads = new Set(pushed.map(({ thread }) => thread));
        expect(threads.size).toBe(trainerThreads);
      }
      const drains = ranks.flatMap(({ pushed }) =>
        pushed.filter(({ result }) => result.drained),
      );
      if (drainEvery === undefined) expect(drains).toEqual([]);
      else expect(drains.length).toBeGreaterThan(0);
      expectBalanced(ranks);
    },
  );

  it.each(seedsFrom(3))(
    'no gradient is of weights that lack more than they may: lot %i',
    async (seed) => {
      const random = new CounterRandom({ seed });
      const [world, end, staleness] = [4, 40, 2 + (seed % 6)];
      const serving: Serving = {
        world,
        end,
        staleness,
        servers: 1 + (seed % 3),
        trainerThreads: 3,
        // Weights say by themselves whose pushes they have.
        gradient: (rank, iteration, i) => Number(i === rank * end + iteration),
      };
      const ranks = await servingRanks({ method: 'none' }, serving);
      let drawn = 0;
      const all = ranks.map((rank, index) =>
        rank.run(() => turns(Math.floor((20 + 20 * index) * random.uniform(drawn++)))),
      );
      await Promise.all(all);
      let newest = 0;
      for (const { begun } of ranks) {
        for (let iteration = 0; iteration < end; iteration++) {
          const weights = begun.get(iteration)!;
          for (let rank = 0; rank < world; rank++) {
            const own = weights.subarray(rank * end, (rank + 1) * end);
            // Where it has them all, it lacks nothing.
            const missing = [...own, 0].indexOf(0);
            expect(iteration - missing).toBeLessThanOrEqual(staleness);
            newest = Math.max(newest, iteration - missing);
          }
        }
      }
      expect(newest).toBe(staleness);
    },
  );

  it('a slow one does not hold the others up, as far as the bound allows', async () => {
    const serving = { world: 1, staleness: 4, end: 12, trainerThreads: 2 };
    const [rank] = await servingRanks({ method: 'none' }, serving);
    const gate = Promise.withResolvers<unknown>();
    const begun: number[] = [];
    const run = rank!.run((iteration) => {
      begun.push(iteration);
      return iteration === 0 ? gate.promise : Promise.resolve();
    });
    await turns(100);
    // Iteration 4 has begun and been pushed while iteration 0 is under way.
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect(rank!.pushed).toEqual([]);
    gate.resolve(undefined);
    await run;
    expect(rank!.pushed.map(({ staleness }) => staleness).slice(0, 5)).toEqual([
      ...[0, 1, 2, 3, 4],
    ]);
    expect(Array.from(rank!.last)).toEqual(given(12, 1).map((sum) => -LR * sum + 0));
  });

  it('weights decay once in an iteration, in whatever order they are pushed', async () => {
    const serving: Serving = {
      world: 2,
      staleness: 5,
      end: 12,
      trainerThreads: 3,
      servers: 2,
      weightDecay: 1 / 16,
      initial: 1,
      gradient: () => 0,
    };
    const ranks = await servingRanks({ method: 'none' }, serving);
    await Promise.all(
      ranks.map((rank) => rank.run((t) => turns(t % 3 === 0 ? 20 : 1))),
    );
    for (const weight of shared(ranks)) expect(weight).toBeCloseTo((31 / 32) ** 12, 6);
  });

  it('a drain leaves nothing behind', async () => {
    const serving = { world: 2, staleness: 0, end: 4, drainEvery: 1 };
    const ranks = await servingRanks({ method: 'topk', ratio: 0.01 }, serving);
    await Promise.all(ranks.map((rank) => rank.run(atOnce)));
    for (const { begun } of ranks) {
      for (let t = 1; t <= 4; t++) {
        const all = given(t, 2).map((sum) => (-LR * sum) / 2 + 0);
        expect(Array.from(begun.get(t)!)).toEqual(all);
      }
    }
  });
});
