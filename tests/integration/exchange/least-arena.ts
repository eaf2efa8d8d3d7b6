/** The smallest arena with windows: it has room for one, which all buckets share. */
import { planBuckets, type FlatTensor } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import { windowsOf } from '../../../src/agent/plan/windows.ts';

/** @returns the fewest bytes of an arena with a window for each of the plans */
export function leastArena(
  plans: readonly Readonly<Record<string, unknown>>[],
  { ranks, tensors }: { ranks: number; tensors: readonly FlatTensor[] },
): number {
  const all = plans.map((plan) => planBuckets(tensors, resolvePlan(plan)));
  const fits = (arenaBytes: number): boolean =>
    all.every((each) => windowsOf(each, { arenaBytes, ranks }) !== undefined);
  let [low, high] = [0, 2 ** 32];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) high = middle;
    else low = middle;
  }
  return high;
}
