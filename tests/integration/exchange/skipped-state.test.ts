/**
 * An exchange of a gradient that is not finite leaves nothing behind, whatever the method and the
 * collective: engines go on with the bits of those that never had it.
 */
import { afterEach, expect, it } from 'vitest';
import { connectRanks, element, leave, type Rank } from './engine-ranks.ts';
import { METHOD_CASES } from './method-cases.ts';

afterEach(leave);

const BAD = 3;
const LAST = 6;
/** The rank whose gradient is spoilt, in the tensor that is exchanged last. */
const CULPRIT = 1;

/** The ranks' averages of an iteration. */
async function exchange(
  ranks: readonly Rank[],
  iteration: number,
  isBad: boolean,
): Promise<readonly Float32Array[]> {
  return await Promise.all(
    ranks.map(async ({ arena, engine, gradient }, rank) => {
      await engine.fence(iteration);
      const values = arena.f32(gradient);
      for (let i = 0; i < values.length; i++) {
        values[i] = element(rank, iteration, i) + rank / 7;
      }
      if (isBad && rank === CULPRIT) values[7] = Infinity;
      const { skipped } = await engine.exchange(iteration, { skips: true });
      if (!isBad) expect(skipped).toBeUndefined();
      else {
        const found =
          rank === CULPRIT ? expect.stringContaining('w1 is Infinity') : undefined;
        expect(skipped).toMatchObject({ rank: CULPRIT, found });
        if (skipped!.isAveraged) expect(values[7]).toBe(Infinity);
      }
      return values.slice();
    }),
  );
}

async function train(
  plan: Readonly<Record<string, unknown>>,
  hasBad: boolean,
): Promise<unknown> {
  const ranks = await connectRanks(plan, [], 2);
  const averages: unknown[] = [];
  for (let iteration = 0; iteration < LAST; iteration++) {
    const isBad = iteration === BAD;
    if (isBad && !hasBad) continue;
    const average = await exchange(ranks, iteration, isBad);
    if (!isBad) averages.push(average);
  }
  const states = await Promise.all(ranks.map(({ engine }) => engine.save()));
  await leave();
  // Numbers for the rounding of sums are drawn for each exchange that there is.
  const isDrawn = 'quantizeSums' in plan;
  return {
    averages: isDrawn ? [] : averages,
    states: states.map(({ buckets, residual }) => [buckets, residual]),
  };
}

it.each(METHOD_CASES)('$exchange', async ({ exchange: plan }) => {
  const buckets = { ...plan, bucketBytes: 500 };
  expect(await train(buckets, true)).toEqual(await train(buckets, false));
});
