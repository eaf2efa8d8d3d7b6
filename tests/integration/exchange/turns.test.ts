/**
 * Models that step in turns, for every method: a step exchanges, checks and takes back the buckets of
 * its models only. What the other models have of gradient, residual and state stays as it is.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { FlatTensor } from '../../../src/agent/plan/buckets.ts';
import {
  connectRanks,
  element,
  leave,
  planSwitch,
  type Rank,
  type Situation,
} from './engine-ranks.ts';
import { leastArena } from './least-arena.ts';
import { METHOD_CASES, type Exchange } from './method-cases.ts';

afterEach(leave);

const RANKS = 2;
const [FIRST, LAST] = [0, 1];
const SIZES = [400, 20, 300, 40, 600, 30];
/** Three tensors for each of two models. */
const TENSORS: readonly FlatTensor[] = SIZES.map((length, i) => ({
  name: `w${i}`,
  shape: [length / 10, 10],
  start: SIZES.slice(0, i).reduce((sum, size) => sum + size, 0),
  length,
  model: i < 3 ? FIRST : LAST,
}));
/** Elements of the first model. */
const MIDDLE = 720;
const turns = ['actor', 'critic'];
const inTurns: Situation = { tensors: TENSORS, turns };
/** The models of each step. */
const STEPS: readonly (readonly number[])[] = [
  [FIRST],
  [LAST],
  [LAST],
  [FIRST, LAST],
  [FIRST],
  [FIRST],
  [LAST],
  [FIRST],
  [LAST],
];

interface Step {
  readonly models: readonly number[];
  /** Steps of the last model so far, which say what its gradient is. */
  readonly number: number;
  readonly iteration: number;
  readonly isBad?: boolean;
}

/** Fills the gradients of the models that step, from `from` on, and exchanges them. */
async function exchange(
  ranks: readonly Rank[],
  { isBad = false, iteration, models, number }: Step,
): Promise<readonly Float32Array[]> {
  return await Promise.all(
    ranks.map(async ({ engine, values }, rank) => {
      await engine.fence(iteration);
      for (const { length, model, start } of TENSORS) {
        if (!models.includes(model!)) continue;
        for (let i = start; i < start + length; i++) {
          values[i] = element(rank, number, i) + rank / 7;
        }
      }
      const spoilt = models.includes(FIRST) ? 7 : MIDDLE + 7;
      if (isBad && rank === 1) values[spoilt] = Infinity;
      const { elements, skipped } = await engine.exchange(iteration, {
        models,
        skips: true,
      });
      expect(elements).toBe(
        (models.includes(FIRST) ? MIDDLE : 0) +
          (models.includes(LAST) ? values.length - MIDDLE : 0),
      );
      expect(skipped === undefined).toBe(!isBad);
      return values.slice();
    }),
  );
}

interface Kept {
  readonly residual: Float32Array | undefined;
  readonly buckets: readonly Uint8Array[];
}

const keptBy = (ranks: readonly Rank[]): Promise<readonly Kept[]> =>
  Promise.all(
    ranks.map(async ({ engine }) => {
      const { residual, states } = await engine.portable();
      return { residual, buckets: states.map((one) => one.slice()) };
    }),
  );

/** The part of what is kept that belongs to one model. @param lasts buckets of the last model, which come first */
const ofModel = ({ buckets, residual }: Kept, model: number, lasts: number): unknown =>
  model === LAST
    ? [residual?.subarray(MIDDLE), buckets.slice(0, lasts)]
    : [residual?.subarray(0, MIDDLE), buckets.slice(lasts)];

/** Steps of both models in turns; the averages of the last one, and what it keeps. */
async function trainInTurns(
  plan: Exchange,
  { bad = [], ...situation }: Situation & { readonly bad?: readonly number[] } = {},
): Promise<unknown> {
  const ranks = await connectRanks(plan, [], RANKS, { ...inTurns, ...situation });
  const drifts = plan['method'] === 'a2sgd';
  const lasts = await lastsOf(plan);
  const averages: unknown[] = [];
  let number = 0;
  let iteration = 0;
  for (const [index, models] of STEPS.entries()) {
    const step = { models, number, iteration: iteration++ };
    const before = await keptBy(ranks);
    const vectors = ranks.map(({ values }) => values.slice());
    if (bad.includes(index)) {
      await exchange(ranks, { ...step, isBad: true });
      const after = await keptBy(ranks);
      expect(after).toEqual(before);
      step.iteration = iteration++;
    }
    const results = await exchange(ranks, step);
    const after = await keptBy(ranks);
    const resting = [FIRST, LAST].filter((model) => !models.includes(model));
    for (const model of resting) {
      const [from, to] = model === LAST ? [MIDDLE] : [0, MIDDLE];
      for (const rank of ranks.keys()) {
        expect(ofModel(after[rank]!, model, lasts)).toEqual(
          ofModel(before[rank]!, model, lasts),
        );
        expect(results[rank]!.subarray(from, to)).toEqual(
          vectors[rank]!.subarray(from, to),
        );
      }
    }
    if (!drifts) expect(results[1]).toEqual(results[0]);
    if (!models.includes(LAST)) continue;
    number++;
    averages.push(results.map((values) => values.slice(MIDDLE)));
  }
  const kept = await keptBy(ranks);
  await leave();
  return { averages, kept: kept.map((one) => ofModel(one, LAST, lasts)) };
}

/** The number of the last model's buckets. */
async function lastsOf(plan: Exchange): Promise<number> {
  const [alone] = await connectRanks(plan, [], 1, { tensors: lastAlone });
  const { states } = await alone!.engine.portable();
  return states.length;
}

const lastAlone = TENSORS.filter(({ model }) => model === LAST).map(
  ({ length, name, shape, start }) => ({ name, shape, start: start - MIDDLE, length }),
);

/** The same steps of the last model, by engines that have no other one. */
async function trainAlone(plan: Exchange): Promise<unknown> {
  const ranks = await connectRanks(plan, [], RANKS, { tensors: lastAlone });
  const averages: unknown[] = [];
  const steps = STEPS.filter((models) => models.includes(LAST)).length;
  for (let iteration = 0; iteration < steps; iteration++) {
    averages.push(
      await Promise.all(
        ranks.map(async ({ engine, values }, rank) => {
          for (let i = 0; i < values.length; i++) {
            values[i] = element(rank, iteration, i + MIDDLE) + rank / 7;
          }
          await engine.exchange(iteration, { skips: true });
          return values.slice();
        }),
      ),
    );
  }
  const kept = await keptBy(ranks);
  await leave();
  return {
    averages,
    kept: kept.map(({ buckets, residual }) => [residual, buckets]),
  };
}

const inBuckets = (plan: Exchange): Exchange => ({ bucketBytes: 500, ...plan });

describe('a model beside another one has the bits that it would have alone', () => {
  it.each(METHOD_CASES)('$exchange', async ({ exchange: plan }) => {
    const alone = await trainAlone(inBuckets(plan));
    expect(await trainInTurns(inBuckets(plan))).toEqual(alone);
  });

  it.each([
    { method: 'topk', ratio: 0.05 },
    { method: 'powersgd', rank: 2 },
    { method: 'none' },
  ])('also through one window: %j', async (plan) => {
    const windowsIn = leastArena([inBuckets(plan)], { tensors: TENSORS, ranks: RANKS });
    const alone = await trainAlone(inBuckets(plan));
    expect(await trainInTurns(inBuckets(plan), { windowsIn })).toEqual(alone);
  });
});

it('buckets of one window wait for each other over the model between them', async () => {
  const tensors = TENSORS.map((one, i) => ({ ...one, model: Math.floor(i / 2) }));
  const plan = { method: 'topk', ratio: 0.05, bucketBytes: 500 };
  const train = async (windowsIn: number | undefined): Promise<unknown> => {
    const situation = { tensors, turns: ['a', 'b', 'c'], windowsIn };
    const ranks = await connectRanks(plan, [], RANKS, situation);
    const averages = await Promise.all(
      ranks.map(async ({ engine, values }, rank) => {
        for (let i = 0; i < values.length; i++) values[i] = element(rank, 1, i);
        for (const [iteration, models] of [[0, 2], [1], [0, 2]].entries()) {
          await engine.exchange(iteration, { models, skips: true });
        }
        return values.slice();
      }),
    );
    return [averages, await keptBy(ranks)];
  };
  const windowsIn = leastArena([plan], { tensors, ranks: RANKS });
  expect(await train(windowsIn)).toEqual(await train(undefined));
});

it.each(METHOD_CASES.filter(({ exchange: { quantizeSums } }) => !quantizeSums))(
  'a step that is skipped leaves nothing behind: $exchange',
  async ({ exchange: plan }) => {
    // Those that draw random numbers, or have schedules, count the step.
    await trainInTurns(inBuckets(plan), { bad: [1, 4] });
  },
);

describe('a residual to flush waits for the next step of its model', () => {
  it.each([false, true])('in windows: %s', async (isOutside) => {
    const plans = [
      { method: 'topk', ratio: 0.05, bucketBytes: 500 },
      { method: 'none', bucketBytes: 500 },
    ];
    const windowsIn = isOutside
      ? leastArena(plans, { tensors: TENSORS, ranks: RANKS })
      : undefined;
    const ranks = await connectRanks(plans[0]!, [planSwitch(1, 4, plans[1]!)], RANKS, {
      ...inTurns,
      windowsIn,
    });
    const order = [[FIRST], [LAST], [FIRST], [LAST], [FIRST], [FIRST], [LAST], [FIRST]];
    const length = TENSORS.reduce((sum, tensor) => sum + tensor.length, 0);
    const applied = new Float64Array(length);
    const given = new Float64Array(length);
    for (const [iteration, models] of order.entries()) {
      const results = await Promise.all(
        ranks.map(async ({ engine, values }, rank) => {
          await engine.fence(iteration);
          const [from, to] = models[0] === LAST ? [MIDDLE, length] : [0, MIDDLE];
          for (let i = from; i < to; i++) {
            values[i] = element(rank, iteration, i);
            given[i]! += values[i]!;
          }
          await engine.exchange(iteration, { models, skips: true });
          return values.slice(from, to);
        }),
      );
      expect(results[1]).toEqual(results[0]);
      const from = models[0] === LAST ? MIDDLE : 0;
      for (const [i, value] of results[0]!.entries()) applied[from + i]! += 2 * value;
      const left = await ranks[0]!.engine.portable();
      // After the switch each model's waits until it steps.
      const isOpen = left.residual?.some((value) => value !== 0);
      expect(isOpen ?? false).toBe(iteration < 6);
    }
    expect(applied).toEqual(given);
  });
});

describe('ranks agree on the models of a step', () => {
  const differing = async (
    models: readonly (readonly number[])[],
  ): Promise<readonly unknown[]> => {
    const ranks = await connectRanks(
      { method: 'topk', ratio: 0.05 },
      [],
      models.length,
      inTurns,
    );
    return await Promise.all(
      ranks.map(({ engine }, rank) =>
        engine.exchange(0, { models: models[rank]!, skips: true }).then(
          ({ elements }) => elements,
          (error: unknown) => error,
        ),
      ),
    );
  };

  it.each([
    [[[FIRST], [LAST]], 1, 'rank 1 is of critic, where that of rank 0 is of actor'],
    [
      [[LAST], [FIRST, LAST], [LAST], [LAST]],
      1,
      'rank 1 is of actor and critic, where that of rank 0 is of critic',
    ],
    [
      [[LAST], [FIRST], [], [FIRST]],
      0,
      'rank 0 is of critic, where that of rank 1 is of actor',
    ],
  ])('%j: names the odd one', async (models, odd, message) => {
    for (const error of await differing(models)) {
      expect(error).toMatchObject({
        code: 'PROGRAM_TURNS_DIFFER',
        rank: odd,
        message: expect.stringContaining(message) as string,
      });
    }
  });

  it('those without a gradient take part in what the others exchange', async () => {
    expect(await differing([[], [LAST], []])).toEqual([670, 670, 670]);
    expect(await differing([[], []])).toEqual([0, 0]);
  });
});
