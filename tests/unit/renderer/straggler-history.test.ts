/** The stragglers of a part of a run over its iterations. */
import { describe, expect, it } from 'vitest';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { heldRecords } from '../../../src/renderer/state/runs/rank-waits.ts';
import {
  historyText,
  STRIP_BARS,
  stragglerHistory,
} from '../../../src/renderer/state/runs/straggler-history.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import { accountOf } from '../../../src/shared/verdict/step-account.ts';
import { stepSeries } from '../../../src/shared/verdict/step-series.ts';
import { uniform } from '../reproduce/draws.ts';
import { iterationRecord } from './records.ts';

const LENGTH = 960;
const ALL = { from: 0, to: LENGTH };

/** The rank that is late in an iteration: rank 2 in 320 to 479, else one in turn. */
const lateIn = (iteration: number, ranks: number): number =>
  iteration >= 320 && iteration < 480 ? 2 : iteration % ranks;

function* records(ranks: number, from: number, to: number): Generator<IterationRecord> {
  for (let iteration = from; iteration < to; iteration++) {
    for (let rank = 0; rank < ranks; rank++) {
      const isLate = lateIn(iteration, ranks) === rank;
      const phases = isLate ? { compute: 10, receive: 1 } : { compute: 6, wait: 5 };
      yield iterationRecord({ rank, iteration, phases });
    }
  }
}

function history(ranks: number, from = 0): RunHistory {
  const made = new RunHistory(ranks);
  made.readsFrom(from);
  for (const record of records(ranks, 0, LENGTH)) made.add(record);
  return made;
}

/** The bins of ranks, as their small charts have them. */
const drawn = (of: RunHistory, ranks: number) =>
  new Map(
    Array.from({ length: ranks }, (_, rank) => [
      rank,
      of.bins({ ...ALL, limit: STRIP_BARS, rank }),
    ]),
  );

const nodes = new Map([[2, 'lab-2']]);

describe('the history of stragglers', () => {
  it('accuses nobody of the few iterations of a cell that has just begun', () => {
    const made = history(3);
    const of = (to: number) =>
      stragglerHistory({ from: 300, to }, 3, [made], new Map()).stretches.map(
        ({ rank }) => rank,
      );
    expect(of(330)).toEqual([undefined]);
    expect(of(336)).toEqual([undefined, 2]);
  });

  it.each([3, 8, 64])('finds a stretch in which one of %i ranks was late', (ranks) => {
    const { cells, stretches, whole } = stragglerHistory(
      ALL,
      ranks,
      [history(ranks)],
      new Map(),
    );
    expect(cells).toHaveLength(30);
    expect(stretches).toMatchObject([
      { from: 0, to: 320, rank: undefined, isKnown: true },
      { from: 320, to: 480, rank: 2, isKnown: true },
      { from: 480, to: LENGTH, rank: undefined, isKnown: true },
    ]);
    // Each other rank waits 4 of 11 ms for it.
    expect(stretches[1]!.share).toBeCloseTo(4 / 11, 9);
    expect(whole!.straggler).toBeUndefined();
    expect(historyText(stretches, nodes)).toBe(
      'iterations 320–479: rank 2 on lab-2, for which the others wait 36 % of the step.',
    );
  });

  it('finds it by means of bins where iterations are no longer held', () => {
    const made = history(3);
    const bins = drawn(made, 3);
    const { stretches, whole } = stragglerHistory(ALL, 3, [history(3, LENGTH)], bins);
    expect(stretches.filter(({ rank }) => rank !== undefined)).toMatchObject([
      { from: 320, to: 480, rank: 2 },
    ]);
    expect(stretches[1]!.share).toBeCloseTo(4 / 11, 9);
    expect(whole).toBeDefined();
  });

  it('accuses nobody by means of some of the ranks', () => {
    const bins = drawn(history(3), 3);
    bins.delete(0);
    const opened = history(3, 640);
    const { stretches, whole } = stragglerHistory(ALL, 3, [opened], bins);
    expect(stretches).toMatchObject([
      { from: 0, to: 640, isKnown: false, rank: undefined },
      { from: 640, to: LENGTH, isKnown: true, rank: undefined },
    ]);
    expect(whole).toBeUndefined();
    expect(historyText(stretches, nodes)).toBe(
      'No rank is the straggler of any 16 iterations or more. Of iterations 0–639 it is not known: show each rank, or zoom in.',
    );
  });

  it('finds it in records that were read, alike', () => {
    const part = { from: 300, to: 500 };
    const read = heldRecords([...records(3, 300, 500)], 3, part);
    const opened = history(3, 640);
    expect(stragglerHistory(part, 3, [opened, read], new Map())).toEqual(
      stragglerHistory(part, 3, [history(3)], new Map()),
    );
  });

  it('decides as the account of a step does, whatever the ranks do', () => {
    const ranks = 4;
    const next = uniform(5);
    const made = new RunHistory(ranks);
    for (let iteration = 0; iteration < LENGTH; iteration++) {
      const slow = iteration % 128 < 60 ? Math.floor(iteration / 128) % 3 : -1;
      const computes = Array.from(
        { length: ranks },
        (_, rank) => 5 + 3 * next() + (rank === slow ? 4 * next() : 0),
      );
      const longest = Math.max(...computes);
      for (const [rank, compute] of computes.entries()) {
        const phases = { compute, wait: longest - compute + next() };
        made.add(iterationRecord({ rank, iteration, phases }));
      }
    }
    const part = { from: 3, to: 643 };
    const { cells, stretches, whole } = stragglerHistory(
      part,
      ranks,
      [made],
      new Map(),
    );
    const facts = { ranks, flight: 0, isLinkKnown: false, crowd: undefined };
    const decided = ({ from, to }: { from: number; to: number }) =>
      accountOf(stepSeries(made.recent, from, to), facts).straggler;
    const wide = cells.filter(({ from, to }) => to - from >= 16);
    const named = wide.map(({ from }) => stretches.find(({ to }) => from < to)!.rank);
    expect(named).toEqual(wide.map((cell) => decided(cell)?.rank));
    expect(new Set(named).size).toBeGreaterThan(1);
    expect(whole!.straggler).toEqual(decided(part));
  });

  it('names those that cost most, in order of time', () => {
    const stretch = (from: number, rank: number | undefined, share: number) => ({
      from,
      to: from + 16,
      rank,
      share,
      isKnown: true,
    });
    const stretches = [
      stretch(0, 1, 0.2),
      stretch(16, 2, 0.05),
      stretch(32, undefined, 0),
      stretch(48, 0, 0.5),
      stretch(64, 3, 0.3),
    ];
    expect(historyText(stretches, new Map())).toMatch(
      /^iterations 0–15: rank 1,.* 20 % of the step; iterations 48–63: rank 0,.*; iterations 64–79: rank 3,.*; 1 shorter\.$/,
    );
  });
});
