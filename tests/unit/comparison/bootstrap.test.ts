/** Ratios of costs and their intervals. The oracles enumerate resamples, and use printed tables. */
import { describe, expect, it, test } from 'vitest';
import {
  FEWEST_SEEDS,
  ratioInterval,
  type SeedCosts,
} from '../../../src/shared/comparison/bootstrap.ts';
import {
  normalQuantile,
  studentQuantile,
} from '../../../src/shared/numbers/central-quantile.ts';
import { generator } from '../../integration/collectives/run-collective.ts';

test('quantiles are those of printed tables', () => {
  expect(normalQuantile(0.95)).toBeCloseTo(1.959964, 5);
  expect(normalQuantile(0.99)).toBeCloseTo(2.575829, 5);
  const table = [
    [1, 0.95, 12.7062],
    [2, 0.95, 4.302653],
    [4, 0.95, 2.776445],
    [9, 0.95, 2.262157],
    [30, 0.95, 2.042272],
    [5, 0.99, 4.032143],
    [2, 0.975, 6.205347],
  ] as const;
  for (const [freedom, level, value] of table) {
    expect(studentQuantile(freedom, level) / value).toBeCloseTo(1, 5);
  }
});

const bySeed = (costs: readonly number[], from = 1): SeedCosts =>
  new Map(costs.map((cost, index) => [from + index, cost]));

/** All ways to draw n of n with replacement. */
function draws(n: number): readonly (readonly number[])[] {
  let all: number[][] = [[]];
  for (let draw = 0; draw < n; draw++) {
    all = all.flatMap((before) =>
      Array.from({ length: n }, (_, at) => [...before, at]),
    );
  }
  return all;
}

/** The value that a part of equally likely values does not exceed. */
const below = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(part * values.length) - 1]!;

const own = [10, 11, 13];
const other = [31, 28, 40];
const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
/** For three seeds: t with two degrees of freedom over z, and the correction of the spread. */
const WIDENED = (4.302653 / 1.959964) * Math.sqrt(3 / 2);

describe('an interval', () => {
  it('is that of all resamples in pairs where the seeds are the same', () => {
    const interval = ratioInterval(bySeed(own), bySeed(other), 0.95)!;
    const logs = draws(3).map((draw) =>
      Math.log(sum(draw.map((at) => other[at]!)) / sum(draw.map((at) => own[at]!))),
    );
    const estimate = Math.log(99 / 34);
    const end = (part: number): number =>
      Math.exp(estimate + WIDENED * (below(logs, part) - estimate));
    // Of 27 resamples each is more than 2.5 %, so the quantiles are the extremes.
    expect(interval).toMatchObject({ isPaired: true });
    expect(interval.ratio).toBeCloseTo(99 / 34, 12);
    expect(interval.low).toBeCloseTo(end(0.025), 4);
    expect(interval.high).toBeCloseTo(end(0.975), 4);
  });

  it('is that of resamples of both where the seeds differ', () => {
    const interval = ratioInterval(bySeed(own), bySeed(other, 7), 0.95)!;
    const logs = draws(3).flatMap((mine) =>
      draws(3).map((its) =>
        Math.log(sum(its.map((at) => other[at]!)) / sum(mine.map((at) => own[at]!))),
      ),
    );
    const estimate = Math.log(99 / 34);
    const end = (part: number): number =>
      Math.exp(estimate + WIDENED * (below(logs, part) - estimate));
    expect(interval.isPaired).toBe(false);
    // Drawn at random: between the quantiles a little to either side.
    expect(interval.low).toBeGreaterThanOrEqual(end(0.02) - 1e-5);
    expect(interval.low).toBeLessThanOrEqual(end(0.03) + 1e-5);
    expect(interval.high).toBeGreaterThanOrEqual(end(0.97) - 1e-5);
    expect(interval.high).toBeLessThanOrEqual(end(0.98) + 1e-5);
  });

  it('is the same each time, and inverted the other way round', () => {
    const there = ratioInterval(bySeed(own), bySeed(other), 0.95)!;
    expect(ratioInterval(bySeed(own), bySeed(other), 0.95)).toEqual(there);
    const back = ratioInterval(bySeed(other), bySeed(own), 0.95)!;
    expect(back.low).toBeCloseTo(1 / there.high, 10);
    expect(back.high).toBeCloseTo(1 / there.low, 10);
  });

  it('is a point where seeds do not matter, and missing where there are too few', () => {
    const same = ratioInterval(bySeed([2, 2, 2]), bySeed([6, 6, 6]), 0.95)!;
    expect([same.low, same.ratio, same.high]).toEqual([
      ...[expect.closeTo(3, 9), 3, expect.closeTo(3, 9)],
    ]);
    expect(FEWEST_SEEDS).toBe(3);
    expect(ratioInterval(bySeed([1, 2]), bySeed([1, 2, 3]), 0.95)).toBeUndefined();
    expect(ratioInterval(bySeed([0, 0, 0]), bySeed([1, 2, 3]), 0.95)).toBeUndefined();
  });

  it('has the true ratio in it as often as it says, with few seeds', () => {
    const random = generator(5);
    // The mean of ten uniform numbers is nearly normal.
    const noise = (): number =>
      Math.exp(0.6 * (sum(Array.from({ length: 10 }, () => random())) - 5));
    const times = 100;
    let within = 0;
    for (let time = 0; time < times; time++) {
      const [a, b] = [0, 1].map(() => Array.from({ length: 3 }, noise));
      const interval = ratioInterval(bySeed(a!), bySeed(b!), 0.95)!;
      if (interval.low <= 1 && interval.high >= 1) within += 1;
    }
    // Without the widening it is there in some 75 of 100.
    expect(within).toBeGreaterThan(90);
  });
});
