/** Who waits for whom in what is shown of a run. */
import { describe, expect, it } from 'vitest';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import {
  heldRecords,
  meansOver,
  mostIterations,
  needsRecords,
  rankRows,
  summaryRows,
  waitsIn,
  waitsText,
  type PartReading,
} from '../../../src/renderer/state/runs/rank-waits.ts';
import { RecentIterations } from '../../../src/shared/verdict/recent-iterations.ts';
import { summarizeWindow } from '../../../src/shared/verdict/window-summary.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { iterationRecord } from './records.ts';

const RANKS = 3;
const [SLOW_FROM, SLOW_TO, LENGTH] = [40, 60, 200];

/** The records of iterations: rank 2 is awaited in 40 to 59, and rank 0 from 150 on. */
function* records(from: number, to: number): Generator<IterationRecord> {
  for (let iteration = from; iteration < to; iteration++) {
    const isSlow = iteration >= SLOW_FROM && iteration < SLOW_TO;
    const awaited = isSlow ? 2 : iteration >= 150 ? 0 : undefined;
    for (let rank = 0; rank < RANKS; rank++) {
      const waits = awaited !== undefined && awaited !== rank;
      yield iterationRecord({
        rank,
        iteration,
        phases: { compute: waits ? 4 : 10, wait: waits ? 6 : 0 },
        waitedFor: waits ? { [String(awaited)]: 6 } : {},
      });
    }
  }
}

function history(from = 0): RunHistory {
  const made = new RunHistory(RANKS);
  made.readsFrom(from);
  for (const record of records(from, LENGTH)) made.add(record);
  return made;
}

const nodes = new Map<number, string>();
const textOf = (from: number, to: number): string =>
  waitsText(waitsIn(history(), { from, to }), {
    ranks: RANKS,
    part: { from, to, reading: 'read' },
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

  it('is told of ranks that do not say for whom they wait: one that always arrives last waits least', () => {
    const recent = new RecentIterations(RANKS, 64);
    for (let iteration = 0; iteration < 30; iteration++) {
      for (let rank = 0; rank < RANKS; rank++) {
        const phases = rank === 1 ? { data: 9, wait: 1 } : { data: 2, wait: 8 };
        recent.add(iterationRecord({ rank, iteration, phases }));
      }
    }
    const summary = summarizeWindow(recent, 0, 30);
    expect(waitsText(summary, { ranks: RANKS, part: undefined, nodes })).toBe(
      'Rank 1 is the straggler of the last 30 iterations: it waits 1.00 ms a step, and the others 8.00 ms.',
    );
    const awaited = summaryRows(summary).map((row) => row.awaited);
    expect(awaited).toEqual([undefined, undefined, undefined]);
  });

  it('is told of the last iterations while charts follow the run', () => {
    const summary = waitsIn(history(), { from: 150, to: LENGTH });
    expect(waitsText(summary, { ranks: RANKS, part: undefined, nodes })).toBe(
      'Rank 0 is the straggler of the last 50 iterations: every other rank waits 6.00 ms a step for it.',
    );
  });

  it('is not known of parts that are too long: it is said how far to zoom', () => {
    const to = mostIterations(RANKS) + 1;
    expect(waitsIn(history(), { from: 0, to })).toBeUndefined();
    const tell = (ranks: number, length: number): string =>
      waitsText(undefined, {
        ranks,
        part: { from: 0, to: length, reading: 'read' },
        nodes,
      });
    expect(tell(RANKS, 5462)).toBe(
      'To see who waits for whom, zoom in until at most 5,461 iterations are shown.',
    );
    expect(tell(64, 257)).toContain('at most 256 iterations');
    expect(tell(64, 256)).not.toContain('zoom in');
  });

  it('is not told of half a part whose first half was not read', () => {
    const opened = history(100);
    expect(waitsIn(opened, { from: 90, to: 160 })).toBeUndefined();
    expect(waitsIn(opened, { from: 100, to: 160 })?.iterations).toBe(60);
  });

  it('is known of an older part by its records, alike', () => {
    const part = { from: 45, to: 65 };
    const opened = history(100);
    expect(needsRecords(opened, part)).toBe(true);
    // Ranks answer in any order.
    const read = heldRecords([...records(45, 65)].reverse(), RANKS, part);
    const summary = waitsIn(read, part)!;
    // In 15 of 20 iterations, ranks 0 and 1 wait 6 ms each.
    expect(summary.awaited).toEqual([0, 0, 4.5]);
    expect(summary.straggler).toBe(2);
    expect(summary.perRank[0]).toEqual({ wall: 10, wait: 4.5 });
    expect(summary).toEqual(waitsIn(history(), part));
    // Of what lies beside it nothing is known.
    expect(waitsIn(read, { from: 44, to: 60 })).toBeUndefined();
  });

  it.each([
    { what: 'is held', ranks: RANKS, from: 100, to: 150, needs: false },
    { what: 'begins before', ranks: RANKS, from: 99, to: 150, needs: true },
    { what: 'is as long as can be read', ranks: 64, from: 0, to: 256, needs: true },
    { what: 'is longer', ranks: 64, from: 0, to: 257, needs: false },
    { what: 'is empty', ranks: RANKS, from: 50, to: 50, needs: false },
    { what: 'has one rank', ranks: 1, from: 0, to: 50, needs: false },
  ])('needs records of a part that $what: $needs', ({ from, needs, ranks, to }) => {
    expect(needsRecords({ heldFrom: 100, ranks }, { from, to })).toBe(needs);
  });

  it('says how far its records are read', () => {
    const tell = (reading: PartReading): string =>
      waitsText(undefined, { ranks: RANKS, part: { from: 5, to: 25, reading }, nodes });
    expect(tell('reading')).toBe('Reading who waits for whom in iterations 5–24…');
    expect(tell('read')).toBe('No rank has a record of iterations 5–24.');
    expect(tell({ code: 'RUN_PURGED', kind: 'failure', message: 'it is gone' })).toBe(
      'Who waits for whom could not be read: it is gone.',
    );
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
