/** When a gradient needs windows, and which it gets, by hand. */
import { describe, expect, it, test } from 'vitest';
import { planBuckets } from '../../../src/agent/plan/buckets.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import {
  DESK_LENGTH,
  neededWindows,
  windowBytes,
  windowsOf,
} from '../../../src/agent/plan/windows.ts';

/** Tensors of these lengths, in order; the last is the first bucket. */
function tensorsOf(lengths: readonly number[]) {
  let start = 0;
  return lengths.map((length, i) => {
    const tensor = { name: `t${i}`, shape: [length], start, length };
    start += length;
    return tensor;
  });
}

const apart = { bucketBytes: 4 };
const none = resolvePlan({ method: 'none', ...apart });
const topk = resolvePlan({ method: 'topk', ratio: 0.01, minElements: 0, ...apart });
const DESK = 8 * DESK_LENGTH;
const ranks = 2;
const MEBI = 2 ** 20;

describe('windows', () => {
  const lengths = [1, 5, 2, 3, 4].map((length) => length * MEBI);
  const buckets = planBuckets(tensorsOf(lengths), none);
  /** The arena with this room for windows, and as much for what collectives need meanwhile. */
  const roomFor = (elements: number) => ({
    ranks,
    arenaBytes: (8 * elements + DESK) / 0.9,
  });

  test.each([
    // Each has its own.
    [15, [4, 3, 2, 5, 1]],
    // Buckets 0 and 4, 4 and 1 Mi long, share one.
    [14, [4, 3, 2, 5]],
    [11, [5, 3, 2]],
    // 4, 2 and 1; 3 and 5.
    [9, [4, 5]],
    [5, [5]],
  ])('fill a room of %i Mi elements', (room, expected) => {
    const layout = windowsOf(buckets, roomFor(room * MEBI + 16));
    expect(layout?.map(({ length }) => length / MEBI)).toEqual(expected);
  });

  it('are none where the longest bucket has no room', () => {
    expect(windowsOf(buckets, roomFor(5 * MEBI - 16))).toBeUndefined();
  });

  it('have twice the length with a residual, beside the desk', () => {
    const layout = windowsOf(planBuckets(tensorsOf([MEBI]), topk), {
      ranks,
      arenaBytes: 2 ** 30,
    })!;
    expect(layout).toEqual([
      { length: MEBI, hasResidual: true, scratchBytes: 8 * MEBI },
    ]);
    expect(windowBytes(layout)).toBe(8 * MEBI + DESK);
  });

  it('are no more than let buckets travel at once', () => {
    const many = planBuckets(tensorsOf(Array<number>(100).fill(32 * MEBI)), none);
    const layout = windowsOf(many, { ranks, arenaBytes: 2 ** 32 });
    expect(layout).toHaveLength(4);
  });
});

describe('a gradient', () => {
  const tensors = tensorsOf(Array<number>(10).fill(10 * MEBI));
  const bytes = 400 * MEBI;
  const setting = (arenaBytes: number) => ({ arenaBytes, ranks });

  test.each([
    ['with plenty of room', [none], 2 * bytes, false],
    ['with little room', [none], bytes, true],
    ['whose later plan keeps a residual', [none, topk], 2 * bytes, true],
    ['whose buckets have no room even in windows', [none], bytes / 10, false],
  ] as const)('%s', (_, plans, arenaBytes, needed) => {
    const windows = neededWindows(tensors, plans, setting(arenaBytes));
    expect(windows?.length).toBe(needed ? plans.length : undefined);
  });

  it('needs windows for what methods keep beside it', () => {
    const dgc = resolvePlan({ method: 'dgc', minElements: 0, ...apart });
    // Of 800 MiB, gradient, velocity and residual leave no room.
    expect(neededWindows(tensors, [dgc], setting(3.2 * bytes))).toBeDefined();
    expect(neededWindows(tensors, [dgc], setting(1.2 * bytes))).toBeUndefined();
  });
});
