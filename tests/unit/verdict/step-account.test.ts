import { describe, expect, it } from 'vitest';
import { meanInterval } from '../../../src/shared/numbers/mean-interval.ts';
import { coreWait, crowdOf } from '../../../src/shared/verdict/core-crowding.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { accountOf } from '../../../src/shared/verdict/step-account.ts';
import {
  stepSeries,
  type StepSeries,
} from '../../../src/shared/verdict/step-series.ts';
import { slowRankLink } from '../../../src/shared/verdict/slow-rank-link.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import type { PhaseTimes } from '../../../src/shared/records/phases.ts';
import { uniform } from '../reproduce/draws.ts';
import { iterationRecord } from '../renderer/records.ts';

/** Twenty iterations of ranks with these phases. */
function seriesOf(
  phasesOf: (iteration: number) => readonly Partial<PhaseTimes>[],
): StepSeries {
  const ranks = phasesOf(0).length;
  const recent = new RecentIterations(ranks, 64);
  for (let iteration = 0; iteration < 20; iteration++) {
    for (const [rank, phases] of phasesOf(iteration).entries())
      recent.add(iterationRecord({ rank, iteration, phases }));
  }
  return stepSeries(recent, 0, 20);
}

/** Milliseconds of a message where all links are alike. */
const alike = (latency: number) => ({ least: latency, most: latency });

const FACTS = { ranks: 2, flight: 0, isLinkKnown: false, crowd: undefined };

const means = (
  series: StepSeries,
  facts: Partial<Parameters<typeof accountOf>[1]> = {},
) => {
  const account = accountOf(series, { ...FACTS, ...facts });
  const parts = [...account.parts].map(([part, { mean }]) => [part, mean] as const);
  const total = parts.reduce((sum, [, mean]) => sum + mean, 0);
  expect(total).toBeCloseTo(account.step.mean, 9);
  return { ...account, means: Object.fromEntries(parts) };
};

describe('the account of a step', () => {
  it('names the rank that arrives last, by what the others wait for it', () => {
    const slow = seriesOf(() => [
      { compute: 2, wait: 9 },
      { compute: 10, wait: 1 },
    ]);
    const { bound, straggler, means: parts } = means(slow);
    expect(straggler).toEqual({ rank: 1, share: 1 });
    expect(bound).toBe('straggler');
    // Rank 0 computes for 2 ms, and would not wait if rank 1 did the same.
    expect(parts).toMatchObject({ compute: 2, straggler: 8, latency: 1 });
  });

  it.each([2, 3, 8])(
    'promises the step that %s ranks would take that all keep pace: as long as the slowest of them',
    (ranks) => {
      const next = uniform(ranks);
      const ITERATIONS = 400;
      /** Steps of ranks that wait for the slowest, and then exchange for 1 ms. */
      const steps = (slow: number | undefined): RecentIterations => {
        const recent = new RecentIterations(ranks, 512);
        for (let iteration = 0; iteration < ITERATIONS; iteration++) {
          const computes = Array.from({ length: ranks }, (_, rank) =>
            rank === slow ? 60 : 20 + 10 * next(),
          );
          const longest = Math.max(...computes);
          for (const [rank, compute] of computes.entries()) {
            const phases = { compute, wait: longest - compute + 1 };
            recent.add(iterationRecord({ rank, iteration, phases }));
          }
        }
        return recent;
      };
      const facts = { ...FACTS, ranks };
      const account = accountOf(stepSeries(steps(ranks - 1), 0, ITERATIONS), facts);
      const promised = account.step.mean - account.parts.get('straggler')!.mean;
      const shown = accountOf(stepSeries(steps(undefined), 0, ITERATIONS), facts).step;
      expect(promised).toBeGreaterThan(shown.low - 0.3);
      expect(promised).toBeLessThan(shown.high + 0.3);
    },
  );

  it('accuses nobody where ranks are late in turn', () => {
    const late = { compute: 10, wait: 1 };
    const early = { compute: 2, wait: 9 };
    const inTurn = seriesOf((i) => (i % 2 === 0 ? [late, early] : [early, late]));
    expect(means(inTurn)).toMatchObject({
      straggler: undefined,
      means: { lateness: 4 },
    });
  });

  it('takes messages that are underway for latency, not for lateness', () => {
    // Two ranks on a link of 20 ms. Rank 1 was ready 8 ms later, then rank 0 was, and so on:
    // each step takes the 5 ms of computing and the 20 ms of the link.
    const late = { compute: 5, wait: 12 };
    const early = { compute: 5, wait: 28 };
    const inTurn = seriesOf((i) => (i % 2 === 0 ? [early, late] : [late, early]));
    for (const latency of [undefined, alike(20)]) {
      const underway = means(inTurn, { latency });
      expect(underway).toMatchObject({ bound: 'latency', rival: undefined });
      expect(underway.means).toEqual({ compute: 5, latency: 20 });
    }
    // Messages of 2 ms cannot explain 8; on a crowded machine, unknown ones need not.
    expect(means(inTurn, { latency: alike(2) }).means).toMatchObject({ lateness: 4 });
    const shared = { machine: 'box', ranks: 2, cores: 1 };
    expect(means(inTurn, { crowd: shared }).means['cores']).toBeGreaterThan(8);
    // Rank 1 computed for 3 ms more, and began 5 ms later: the 3 ms are its own.
    const both = seriesOf((i) => {
      const ranks = [
        { compute: 5, wait: 28 },
        { compute: 8, wait: 12 },
      ];
      return i % 2 === 0 ? ranks : ranks.toReversed();
    });
    expect(means(both).means).toEqual({ compute: 6.5, lateness: 1.5, latency: 18.5 });
    // Against one rank, all of it counts: without it, the others would not have waited.
    const always = seriesOf(() => [
      { compute: 5, wait: 28 },
      { compute: 21, wait: 12 },
    ]);
    expect(means(always, { latency: alike(20) }).means).toEqual({
      compute: 5,
      straggler: 16,
      latency: 12,
    });
    // Ranks that share cores do not wait for one while a message is underway.
    const crowd = { machine: 'box', ranks: 2, cores: 1 };
    const crowded = means(inTurn, { latency: alike(20), crowd }).means;
    expect(crowded['latency']).toBeCloseTo(20, 9);
  });

  it('does not take a slow link for a slow rank: its rank communicates longest', () => {
    // Rank 2 is awaited by all, and arrives last never.
    const link = seriesOf((i) => [
      { compute: 4, wait: i % 2 === 0 ? 8 : 8.1 },
      { compute: 4, wait: i % 2 === 0 ? 8.1 : 8 },
      { compute: 4, send: 9 },
    ]);
    expect(means(link, { ranks: 3 }).straggler).toBeUndefined();
  });

  it('splits the exchange into bytes in flight and latency', () => {
    const series = seriesOf(() => [
      { compute: 1, wait: 2, receive: 6 },
      { compute: 1, wait: 2, receive: 6 },
    ]);
    expect(means(series, { flight: 6 })).toMatchObject({
      bound: 'bandwidth',
      rival: undefined,
      means: { bandwidth: 6, latency: 2, compute: 1 },
    });
    expect(means(series, { flight: undefined }).bound).toBe('exchange');
  });

  it.each([
    ['data', { data: 8 }],
    ['compression', { compress: 5, decompress: 4 }],
    ['reduction', { reduce: 9 }],
    ['latency', { wait: 7 }],
    ['bubble', { bubble: 7 }],
  ] as const)('finds %s', (bound, phases) => {
    const own = { compute: 3, ...phases };
    expect(means(seriesOf(() => [own, own])).bound).toBe(bound);
  });

  it('takes time from all that a rank does where ranks share cores', () => {
    const busy = seriesOf(() => Array.from({ length: 8 }, () => ({ compute: 8 })));
    const crowd = { machine: 'box', ranks: 8, cores: 2 };
    const { bound, means: parts } = means(busy, { ranks: 8, crowd });
    expect(bound).toBe('cores');
    expect(parts['cores']).toBeCloseTo(6, 9);
    // Ranks that wait for a known link leave their cores to others.
    const slow = seriesOf(() =>
      Array.from({ length: 8 }, () => ({ compute: 1, receive: 99 })),
    );
    const known = means(slow, { ranks: 8, crowd, flight: 99, isLinkKnown: true });
    expect(known).toMatchObject({ bound: 'bandwidth', coreWait: 0 });
  });

  it('says which part is nearly as large', () => {
    const noisy = seriesOf((i) => {
      const own = { compute: 5 + (i % 4), wait: 5 + ((i + 2) % 4) };
      return [own, own];
    });
    expect(means(noisy).rival).toBeDefined();
  });
});

describe('cores', () => {
  const started = (processes: readonly object[]): readonly RunEvent[] => [
    { type: 'started', at: 0, ranks: 4, processes } as unknown as RunEvent,
  ];
  const four = [0, 1, 2, 3].map((rank) => ({ rank, pid: 1, node: 'box', cores: 2 }));

  it('are those that ranks reported, of the most crowded machine', () => {
    expect(crowdOf(started(four), ['box'])).toEqual({
      machine: 'box',
      ranks: 4,
      cores: 2,
    });
    const two = four.map((process) =>
      process.rank < 3 ? process : { ...process, node: 'crate', cores: 1 },
    );
    expect(crowdOf(started(two), ['box', 'crate'])?.machine).toBe('box');
    expect(crowdOf(started(four.slice(2)), ['box'])).toBeUndefined();
  });

  it('are this computer’s only where records do not say', () => {
    const old = four.map(({ node, pid, rank }) => ({ node, pid, rank }));
    expect(crowdOf(started(old), ['box'], 2)?.cores).toBe(2);
    expect(crowdOf(started(old), ['box'])).toBeUndefined();
    expect(crowdOf(started(four), ['box'], 64)?.cores).toBe(2);
  });

  it('are awaited for as long as others run', () => {
    const crowd = { machine: 'box', ranks: 8, cores: 2 };
    expect(coreWait(crowd, 10, 10)).toBeCloseTo(0.75, 12);
    expect(coreWait(crowd, 1, 10)).toBe(0);
    expect(coreWait(crowd, 0, 0)).toBe(0);
  });
});

describe('a rank’s link', () => {
  const traffic = (times: readonly number[]) =>
    times.map((exposed, rank) => ({
      rank,
      moving: exposed,
      exposed,
      bytesSent: 100,
      bytesReceived: 100,
    }));

  it('is slow if a byte takes twice as long as on the others', () => {
    expect(slowRankLink(traffic([1, 1, 3, 1]))).toEqual({ rank: 2, factor: 3 });
    expect(slowRankLink(traffic([1, 1, 1.5, 1]))).toBeUndefined();
    expect(slowRankLink(traffic([1, 9]))).toBeUndefined();
    expect(slowRankLink([])).toBeUndefined();
  });
});

describe('the interval of a mean', () => {
  it('is Student’s, of ten batches', () => {
    const values = Array.from({ length: 20 }, (_, i) => Math.floor(i / 2));
    // Batch means 0 … 9: mean 4.5, deviation 3.0277/√10, quantile 2.2622 at 9 degrees.
    const { mean, low, high } = meanInterval(values);
    expect(mean).toBe(4.5);
    expect(high - mean).toBeCloseTo(2.1659, 3);
    expect(mean - low).toBeCloseTo(2.1659, 3);
  });

  it('is open for a single value, and closed for equal ones', () => {
    expect(meanInterval([3])).toEqual({ mean: 3, low: -Infinity, high: Infinity });
    expect(meanInterval([2, 2, 2])).toEqual({ mean: 2, low: 2, high: 2 });
  });
});
