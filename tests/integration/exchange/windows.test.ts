/**
 * A gradient outside of the arena, whose buckets share one window there, has the bits of one that
 * lies in the arena, whatever the method: averages, residuals, steps that are skipped, and switches.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { DESK_LENGTH } from '../../../src/agent/plan/windows.ts';
import {
  connectRanks,
  element,
  leave,
  planSwitch,
  TENSORS,
  type Rank,
  type Situation,
} from './engine-ranks.ts';
import { leastArena } from './least-arena.ts';
import { METHOD_CASES, type Exchange } from './method-cases.ts';

afterEach(leave);

const RANKS = 2;
const BAD = 3;
const SWITCHED = 5;
const LAST = 9;

async function exchange(
  ranks: readonly Rank[],
  iteration: number,
  skips: boolean,
): Promise<unknown> {
  return await Promise.all(
    ranks.map(async ({ engine, values }, rank) => {
      await engine.fence(iteration);
      for (let i = 0; i < values.length; i++) {
        values[i] = element(rank, iteration, i) + rank / 7;
      }
      if (skips && iteration === BAD && rank === 1) values[7] = NaN;
      const { clipped, skipped } = await engine.exchange(iteration, { skips });
      return { average: values.slice(), clipped, skipped };
    }),
  );
}

async function train(
  plans: readonly Exchange[],
  situation: Situation,
  skips = true,
): Promise<unknown> {
  const [plan, ...later] = plans;
  const switches = later.map((one, i) => planSwitch(i + 1, SWITCHED + 2 * i, one));
  const ranks = await connectRanks(plan!, switches, RANKS, situation);
  const averages: unknown[] = [];
  for (let iteration = 0; iteration < LAST; iteration++) {
    averages.push(await exchange(ranks, iteration, skips));
  }
  const states = await Promise.all(
    ranks.map(async ({ engine }) => {
      const { buckets, residual } = await engine.save();
      return { buckets, residual: residual?.slice() };
    }),
  );
  await leave();
  return { averages, states };
}

const inBuckets = (plan: Exchange): Exchange => ({ bucketBytes: 500, ...plan });

describe('windows of one bucket each', () => {
  it.each(METHOD_CASES)('$exchange', async ({ exchange: plan }) => {
    const plans = [plan].map(inBuckets);
    const windowsIn = leastArena(plans, { tensors: TENSORS, ranks: RANKS });
    expect(await train(plans, { windowsIn })).toEqual(await train(plans, {}));
  });

  it('carry the residual over switches, and flush it', async () => {
    const plans = [
      { method: 'topk', ratio: 0.05, minElements: 0 },
      { method: 'none', bucketBytes: 2000 },
      // Its tensors are not adjacent: the one between them travels dense.
      { method: 'topk', ratio: 0.1, minElements: 100, bucketBytes: 4000 },
    ].map(inBuckets);
    const windowsIn = leastArena(plans, { tensors: TENSORS, ranks: RANKS });
    expect(await train(plans, { windowsIn })).toEqual(await train(plans, {}));
  });

  it('work on vectors longer than the desk piece by piece', async () => {
    const length = DESK_LENGTH / 2 + 12_345;
    const tensors = ['u', 'v', 'w'].map((name, i) => ({
      name,
      shape: [length],
      start: i * length,
      length,
    }));
    const plans = [{ method: 'topk', ratio: 0.01 }, { method: 'none' }].map(inBuckets);
    const windowsIn = leastArena(plans, { tensors, ranks: RANKS });
    expect(await train(plans, { tensors, windowsIn }, false)).toEqual(
      await train(plans, { tensors }, false),
    );
  });
});
