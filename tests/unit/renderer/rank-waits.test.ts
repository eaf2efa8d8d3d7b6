/** Who waits for whom in what is shown of a run. */
import { describe, expect, it } from 'vitest';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import {
  meansOver,
  mostIterations,
  rankRows,
  summaryRows,
  waitsIn,
  waitsText,
} from '../../../src/renderer/state/runs/rank-waits.ts';
import { iterationRecord } from './records.ts';

const RANKS = 3;
const [SLOW_FROM, SLOW_TO, LENGTH] = [40, 60, 200];

/** Rank 2 is awaited in iterations 40 to 59, and rank 0 from 150 on. */
function history(): RunHistory {
  const made = new RunHistory(RANKS);
  for (let iteration = 0; iteration < LENGTH; iteration++) {
    const isSlow = iteration >= SLOW_FROM && iteration < SLOW_TO;
    const awaited = isSlow ? 2 : iteration >= 150 ? 0 : undefined;
    for (let rank = 0; rank < RANKS; rank++) {
      const waits = awaited !== undefined && awaited !== rank;
      made.add(
        iterationRecord({
          rank,
          iteration,
          phases: { compute: waits ? 4 : 10, wait: waits ? 6 : 0 },
          waitedFor: waits ? { [String(awaited)]: 6 } : {},
        }),
      );
    }
  }
  return made;
}

const nodes = new Map<number, string>();
const textOf = (from: number, to: number): string =>
  waitsText(waitsIn(history(), { from, to }), {
    ranks: RANKS,
    part: { from, to },
    nodes,
  });

describe('who waits for whom', () => {
  it('is told of the part that is shown, not of the last iterations', () => {
    expect(textOf(SLOW_FROM, SLOW_TO)).toBe(
      'Rank 2 is the straggler of iterations 40–59: every other rank waits 6.00 ms a step for it.',
    );
    expect(textOf(70, 140)).toBe(
      'No straggler in iterations 70–139: the ranks wait about equally long for each other.',
    );
  });

  it('is told of the last iterations while charts follow the run', () => {
    const summary = waitsIn(history(), { from: 150, to: LENGTH });
    expect(waitsText(summary, { ranks: RANKS, part: undefined, nodes })).toBe(
      'Rank 0 is the straggler of the last 50 iterations: every other rank waits 6.00 ms a step for it.',
    );
  });

  it('is not known of parts that are too long, or no longer held one by one', () => {
    const recent = { oldest: 100 } as RunHistory['recent'];
    expect(waitsIn({ ranks: RANKS, recent }, { from: 99, to: 110 })).toBeUndefined();
    const to = mostIterations(RANKS) + 1;
    expect(waitsIn(history(), { from: 0, to })).toBeUndefined();
    expect(
      waitsText(undefined, { ranks: RANKS, part: { from: 0, to }, nodes }),
    ).toContain('zoom in, or follow the run');
  });

  it('is not told of too few iterations', () => {
    expect(textOf(SLOW_FROM, SLOW_FROM + 4)).toBe(
      'Too few iterations to tell whether a rank is a straggler.',
    );
    expect(textOf(SLOW_FROM, SLOW_FROM + 5)).toContain('Rank 2 is the straggler');
  });

  it('waits for the first iteration', () => {
    expect(waitsText(undefined, { ranks: RANKS, part: undefined, nodes })).toBe(
      'Waiting for the first iteration.',
    );
  });
});

describe('means of a rank', () => {
  it('weigh bins by their records', () => {
    const bins = history().bins({ from: 35, to: 60, limit: 7, rank: 0 });
    expect(bins.length).toBeGreaterThan(1);
    const seen = meansOver(bins)!;
    expect(seen.wall).toBeCloseTo(10, 9);
    // Of the 25 iterations 20 wait.
    expect(seen.wait).toBeCloseTo((6 * 20) / 25, 9);
  });

  it('are undefined without a record', () => {
    expect(meansOver([])).toBeUndefined();
  });
});

describe('ranks as a table', () => {
  it('has step and wait of the iterations that are drawn, also where none is held one by one', () => {
    const drawn = (from: number, to: number) => {
      const made = history();
      const ranks = Array.from({ length: RANKS }, (_, rank) => rank);
      return new Map(
        ranks.map((rank) => [rank, made.bins({ from, to, limit: 41, rank })]),
      );
    };
    const slow = rankRows(
      drawn(SLOW_FROM, SLOW_TO),
      waitsIn(history(), { from: SLOW_FROM, to: SLOW_TO }),
    );
    expect(slow).toEqual([
      { rank: 0, wall: 10, wait: 6, awaited: 0 },
      { rank: 1, wall: 10, wait: 6, awaited: 0 },
      { rank: 2, wall: 10, wait: 0, awaited: 6 },
    ]);
    expect(rankRows(drawn(70, 140), undefined)[1]).toEqual({
      rank: 1,
      wall: 10,
      wait: 0,
      awaited: undefined,
    });
  });

  it('has the summary’s values while charts follow the run', () => {
    const summary = waitsIn(history(), { from: SLOW_FROM, to: SLOW_TO });
    expect(summaryRows(summary)).toEqual([
      { rank: 0, wall: 10, wait: 6, awaited: 0 },
      { rank: 1, wall: 10, wait: 6, awaited: 0 },
      { rank: 2, wall: 10, wait: 0, awaited: 6 },
    ]);
    expect(summaryRows(undefined)).toEqual([]);
  });
});
