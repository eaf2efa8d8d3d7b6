/** Who waits for whom in what is shown of a run. */
import { describe, expect, it } from 'vitest';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import {
  drawnRows,
  heldRecords,
  meansOver,
  needsRecords,
  waitRows,
  waitsIn,
  waitsText,
  type HeldIterations,
  type Part,
  type PartReading,
} from '../../../src/renderer/state/runs/rank-waits.ts';
import { Lateness } from '../../../src/shared/verdict/straggler.ts';
import { verdict } from '../../../src/shared/verdict/verdict.ts';
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

const nodes = new Map([[2, 'b']]);

/** The lateness in a part, as the page adds it up. */
function latenessIn({ arrivals }: HeldIterations, { from, to }: Part): Lateness {
  const lateness = new Lateness(RANKS);
  arrivals.addTo(lateness, from, to);
  return lateness;
}
const tell = (held: HeldIterations, from: number, to: number): string =>
  waitsText(latenessIn(held, { from, to }), waitsIn(held, { from, to }), {
    ranks: RANKS,
    part: { from, to, reading: 'read' },
    nodes,
  });
const textOf = (from: number, to: number): string => tell(history(), from, to);

describe('who waits for whom', () => {
  it('is told of the part that is shown', () => {
    expect(textOf(SLOW_FROM, SLOW_TO)).toBe(
      'Rank 2 on b is the straggler of iterations 40–59: every other rank waits 6.00 ms a step for it.',
    );
    expect(textOf(150, LENGTH)).toBe(
      'Rank 0 is the straggler of iterations 150–199: every other rank waits 6.00 ms a step for it.',
    );
    expect(textOf(70, 140)).toBe(
      'No straggler in iterations 70–139: no rank is late much more than the others.',
    );
  });

  it('is told of ranks that do not say for whom they wait: one that always arrives last waits least', () => {
    const recent = new RunHistory(RANKS);
    for (let iteration = 0; iteration < 30; iteration++) {
      for (let rank = 0; rank < RANKS; rank++) {
        const phases = rank === 1 ? { data: 9, wait: 1 } : { data: 2, wait: 8 };
        recent.add(iterationRecord({ rank, iteration, phases }));
      }
    }
    expect(tell(recent, 0, 30)).toBe(
      'Rank 1 is the straggler of iterations 0–29: every other rank waits 7.00 ms a step for it.',
    );
    const awaited = waitRows(waitsIn(recent, { from: 0, to: 30 })!).map(
      (row) => row.awaited,
    );
    expect(awaited).toEqual([undefined, undefined, undefined]);
  });

  it('does not call a rank the straggler because it is awaited longest, as the verdict does not', () => {
    const made = new RunHistory(RANKS);
    for (let iteration = 0; iteration < 60; iteration++) {
      for (let rank = 0; rank < RANKS; rank++) {
        const isLast = iteration % RANKS === rank;
        made.add(
          iterationRecord({
            rank,
            iteration,
            phases: isLast ? { compute: 10 } : { compute: 4, wait: 6 },
            waitedFor: isLast || rank === 2 ? {} : { '2': 6 },
          }),
        );
      }
    }
    expect(tell(made, 0, 60)).toBe(
      'No straggler in iterations 0–59: no rank is late much more than the others. The longest wait is for rank 2 on b (4.00 ms a step).',
    );
    const { account, statements } = verdict(summarizeWindow(made.recent, 0, 60)!, {
      ranks: RANKS,
      nodes,
    })!;
    expect(account.straggler).toBeUndefined();
    expect(statements.map(({ text }) => text)).toContain(
      'the longest wait is for rank 2 on b (4.00 ms a step)',
    );
  });

  it('is not known of parts that are too long to read: it is said how far to zoom', () => {
    const untold = (ranks: number, length: number, reading?: PartReading): string =>
      waitsText(undefined, undefined, {
        ranks,
        part: { from: 0, to: length, reading },
        nodes,
      });
    expect(untold(RANKS, 5462, 'read')).toBe(
      'To see who waits for whom in all of this, show each rank, or zoom in until at most 5,461 iterations are shown.',
    );
    expect(untold(64, 257, 'read')).toContain('at most 256 iterations');
    expect(untold(64, 256, 'read')).not.toContain('zoom in');
    // Nothing is read for what moves on.
    expect(untold(64, 256)).toContain('pause the charts or zoom in');
  });

  it('is not told of half a part whose first half was not read', () => {
    const opened = history(100);
    expect(waitsIn(opened, { from: 90, to: 160 })).toBeUndefined();
    expect(waitsIn(opened, { from: 100, to: 160 })).toBeDefined();
  });

  it('is known of an older part by its records, alike', () => {
    const part = { from: 45, to: 65 };
    const opened = history(100);
    expect(needsRecords(opened, part)).toBe(true);
    // Ranks answer in any order.
    const read = heldRecords([...records(45, 65)].reverse(), RANKS, part);
    const waits = waitsIn(read, part)!;
    // In 15 of 20 iterations, ranks 0 and 1 wait 6 ms each.
    expect(waits.awaited).toEqual([0, 0, 4.5]);
    expect(waits.perRank[0]).toEqual({ wall: 10, wait: 4.5 });
    expect(waits).toEqual(waitsIn(history(), part));
    expect(latenessIn(read, part)).toEqual(latenessIn(history(), part));
    expect(latenessIn(read, part).straggler?.rank).toBe(2);
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
    const part = { from: 5, to: 25 };
    const told = (reading: PartReading, lateness?: Lateness): string =>
      waitsText(lateness, undefined, {
        ranks: RANKS,
        part: { ...part, reading },
        nodes,
      });
    expect(told('reading')).toBe('Reading who waits for whom in iterations 5–24…');
    expect(told('read', new Lateness(RANKS))).toBe(
      'No iteration of all ranks in iterations 5–24.',
    );
    expect(told({ code: 'RUN_PURGED', kind: 'failure', message: 'it is gone' })).toBe(
      'Who waits for whom could not be read: it is gone.',
    );
  });

  it('is not told of too few iterations', () => {
    expect(textOf(SLOW_FROM, SLOW_FROM + 4)).toBe(
      'Too few iterations to tell whether a rank is a straggler.',
    );
    expect(textOf(SLOW_FROM, SLOW_FROM + 5)).toContain('Rank 2 on b is the straggler');
  });

  it('waits for the first iteration', () => {
    const part = { from: 0, to: 0, reading: undefined };
    expect(waitsText(undefined, undefined, { ranks: RANKS, part, nodes })).toBe(
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
    const part = { from: SLOW_FROM, to: SLOW_TO };
    expect(drawnRows(drawn(SLOW_FROM, SLOW_TO))).toEqual([
      { rank: 0, wall: 10, wait: 6, awaited: undefined },
      { rank: 1, wall: 10, wait: 6, awaited: undefined },
      { rank: 2, wall: 10, wait: 0, awaited: undefined },
    ]);
    expect(waitRows(waitsIn(history(), part)!)).toEqual([
      { rank: 0, wall: 10, wait: 6, awaited: 0 },
      { rank: 1, wall: 10, wait: 6, awaited: 0 },
      { rank: 2, wall: 10, wait: 0, awaited: 6 },
    ]);
  });
});
