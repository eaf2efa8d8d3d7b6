/** Which iteration a rank's threads begin next, in every order in which they can end them. */
import { describe, expect, it } from 'vitest';
import { IterationOrder } from '../../../src/agent/worker/steps/iteration-order.ts';

interface Walk {
  readonly threads: number;
  readonly staleness: number;
  readonly first: number;
  /** It is foreseen that all meet before this iteration. */
  readonly end: number;
  /** Servers say that all meet before this one. */
  readonly fence?: number;
}

/** Follows one order, as the choices tell; the number of choices that there were at each step. */
function follow(walk: Walk, choices: readonly number[]): number[] {
  const { end, fence = end, first, staleness, threads } = walk;
  const order = new IterationOrder({
    first,
    staleness,
    meetsBefore: (iteration) => iteration === end,
  });
  /** What each thread computes. */
  const under = new Set<number>();
  const begun: number[] = [];
  const pushed: number[] = [];
  let idle = 0;
  const begin = (): boolean => {
    const next = order.next();
    if (next === undefined) return false;
    if (next >= fence) {
      order.meetBefore(next);
      return true;
    }
    const missing = Array.from({ length: next - first }, (_, i) => first + i).find(
      (iteration) => !pushed.includes(iteration),
    );
    expect(next - (missing ?? next)).toBeLessThanOrEqual(staleness);
    begun.push(next);
    under.add(next);
    return true;
  };
  for (let thread = 0; thread < threads; thread++) if (!begin()) idle++;
  const sizes: number[] = [];
  while (under.size > 0) {
    const all = [...under];
    const chosen = all[choices[sizes.length] ?? 0]!;
    sizes.push(all.length);
    under.delete(chosen);
    pushed.push(chosen);
    order.pushed(chosen);
    idle++;
    while (idle > 0 && begin()) idle--;
  }
  const meeting = Math.min(end, fence);
  expect(order.meeting).toBe(meeting);
  expect(begun).toEqual(Array.from({ length: meeting - first }, (_, i) => first + i));
  expect(pushed.toSorted((a, b) => a - b)).toEqual(begun);
  return sizes;
}

function everyOrder(walk: Walk): number {
  const choices: number[] = [];
  for (let walks = 1; ; walks++) {
    const sizes = follow(walk, choices);
    let last = sizes.length - 1;
    while (last >= 0 && (choices[last] ?? 0) + 1 === sizes[last]) last--;
    if (last < 0) return walks;
    choices.length = last + 1;
    for (let i = 0; i < last; i++) choices[i] ??= 0;
    choices[last] = (choices[last] ?? 0) + 1;
  }
}

describe('the order of iterations', () => {
  it.each<Walk>([
    { threads: 1, staleness: 0, first: 0, end: 4 },
    { threads: 2, staleness: 1, first: 3, end: 9 },
    { threads: 2, staleness: 3, first: 0, end: 8 },
    { threads: 3, staleness: 2, first: 5, end: 11 },
    { threads: 3, staleness: 4, first: 0, end: 7 },
    // A meeting before every thread has something to do.
    { threads: 4, staleness: 5, first: 7, end: 9 },
    { threads: 3, staleness: 2, first: 0, end: 20, fence: 6 },
  ])(
    'each begins once, no further ahead than it may, and all are pushed: %j',
    (walk) => {
      const walks = everyOrder(walk);
      if (walk.threads > 1 && walk.staleness > walk.threads) {
        expect(walks).toBeGreaterThan(1);
      }
    },
  );
});
