import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phaseBars } from '../../../src/renderer/charts/phase-bars.ts';
import {
  describePhases,
  phaseTable,
} from '../../../src/renderer/charts/phase-table.ts';
import { BinWindow } from '../../../src/renderer/state/history/bin-window.ts';
import { extremesOf, meanOf } from '../../../src/renderer/state/history/bin.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import {
  addRow,
  CELL_COUNT,
  clearCells,
} from '../../../src/shared/records/chart-cells.ts';
import { FIELD_COUNT, writeRow } from '../../../src/shared/records/chart-fields.ts';
import type { IterationRecord } from '../../../src/shared/records/iteration.ts';
import type { BinsPiece, BinsQuery } from '../../../src/shared/rpc/run-pieces.ts';
import { runs } from '../../harness/effort.ts';
import { iterationRecord } from './records.ts';

const recordOf = (iteration: number, rank: number): IterationRecord =>
  iterationRecord({
    rank,
    iteration,
    loss: iteration * 10 + rank,
    phases: { compute: (iteration % 7) + rank },
  });

/** Loss i·10 + rank and compute time i % 7 + rank: means have closed forms. */
function fill(history: RunHistory, length: number): void {
  for (let iteration = 0; iteration < length; iteration++) {
    for (let rank = 0; rank < history.ranks; rank++) {
      history.add(recordOf(iteration, rank));
    }
  }
}

/** The bins that the store has of such a run. */
function piece(ranks: number, length: number, query: BinsQuery): BinsPiece {
  const cells = new Map<number, Float64Array>();
  const row = new Float64Array(FIELD_COUNT);
  for (let iteration = 0; iteration < length; iteration++) {
    const start = Math.floor(iteration / query.width) * query.width;
    if (start + query.width <= query.from || start >= query.to) continue;
    for (let rank = 0; rank < ranks; rank++) {
      if (query.rank !== undefined && query.rank !== rank) continue;
      const own = cells.get(start) ?? new Float64Array(CELL_COUNT);
      if (!cells.has(start)) clearCells(own, 0);
      cells.set(start, own);
      writeRow(recordOf(iteration, rank), row);
      addRow(own, 0, row);
    }
  }
  return {
    starts: [...cells.keys()],
    cells: [...cells.values()].flatMap((own) =>
      Array.from(own, (value) => (Number.isFinite(value) ? value : null)),
    ),
    lastSequence: length * ranks,
  };
}

/** A history of records that came one by one; bins that it wants are there at once. */
function stored(ranks: number, length: number, asked: BinsQuery[] = []): RunHistory {
  const history = new RunHistory(ranks, (query) => {
    asked.push(query);
    const window = new BinWindow(query, ranks, history.completeLength);
    window.add(piece(ranks, history.completeLength, query));
    history.put(window);
  });
  fill(history, length);
  // A chart is drawn again when its bins are there.
  for (let rank = 0; rank < ranks; rank++) {
    history.bins({ from: 0, to: length, limit: 10, rank });
    history.bins({ from: 0, to: length, limit: 50, rank });
  }
  return history;
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('run history', () => {
  it('keeps a window for each rank, so that showing all of them ends in reading', () => {
    const [ranks, length] = [128, 600];
    const asked: BinsQuery[] = [];
    const history = stored(ranks, length, asked);
    const all = (): void => {
      for (let rank = 0; rank < ranks; rank++) {
        history.bins({ from: 0, to: length, limit: 10, rank });
      }
    };
    all();
    asked.length = 0;
    all();
    expect(asked).toEqual([]);
  });

  it.each([200, 9000])(
    'has the extremes of the rank asked for, of %i iterations',
    (length) => {
      const history = stored(2, length);
      const query = { from: 0, to: length, limit: 10 };
      const [both] = history.bins(query);
      const [second] = history.bins({ ...query, rank: 1 });
      const last = 10 * (both!.to - 1);
      expect(extremesOf(both!, 'loss')).toEqual([0, last + 1]);
      expect(extremesOf(second!, 'loss')).toEqual([1, last + 1]);
      expect(extremesOf(history.bins({ ...query, rank: 0 })[0]!, 'loss')).toEqual([
        0,
        last,
      ]);
    },
  );

  it('never draws more bins than there is room for, and each is the mean of its iterations', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9000 }),
        fc.integer({ min: 2, max: 300 }),
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        (length, limit, start) => {
          const history = new RunHistory(2);
          fill(history, length);
          const from = Math.floor(start * length);
          const bins = history.bins({ from, to: length, limit });
          expect(bins.length).toBeGreaterThan(0);
          expect(bins.length).toBeLessThanOrEqual(limit);
          for (const bin of bins) {
            const covered = Array.from(
              { length: bin.to - bin.from },
              (_, index) => bin.from + index,
            ).filter((iteration) => iteration < length);
            // A first bin may be cut by the range, or begin before it, never lose a part.
            if (bin.from < from) continue;
            expect(bin.count).toBe(covered.length);
            expect(meanOf(bin, 'loss')).toBeCloseTo(
              average(covered.map((iteration) => iteration * 10 + 0.5)),
              6,
            );
            expect(extremesOf(bin, 'loss')).toEqual([
              covered[0]! * 10,
              covered.at(-1)! * 10 + 1,
            ]);
          }
          expect(bins.at(-1)!.to).toBe(length);
        },
      ),
      { numRuns: runs(12) },
    );
  });

  it('has the same bins whenever it was asked before, though records come late', () => {
    const asked = fc.record({
      from: fc.integer({ min: 0, max: 400 }),
      length: fc.integer({ min: 1, max: 400 }),
      limit: fc.integer({ min: 2, max: 60 }),
      rank: fc.constantFrom(undefined, 0, 2),
    });
    fc.assert(
      fc.property(
        // Where each record goes among those that come in order.
        fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1200, maxLength: 1200 }),
        fc.array(asked, { minLength: 12, maxLength: 12 }),
        (delays, queries) => {
          const records = delays
            .map((delay, index) => ({ index, at: index + delay }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ index }) => recordOf(Math.floor(index / 3), index % 3));
          const often = new RunHistory(3);
          for (const [index, record] of records.entries()) {
            often.add(record);
            if (index % 100 !== 99) continue;
            const { from, length, limit, rank } = queries[(index - 99) / 100]!;
            const query = { from, to: from + length, limit, rank };
            const fresh = new RunHistory(3);
            for (const earlier of records.slice(0, index + 1)) fresh.add(earlier);
            for (const each of [
              query,
              ...queries.map((one) => ({ ...query, ...one })),
            ]) {
              often.bins(each);
            }
            expect(often.bins(query)).toEqual(fresh.bins(query));
          }
        },
      ),
      { numRuns: runs(12) },
    );
  });

  it('computes a bin that has all its records once', () => {
    const history = new RunHistory(2);
    fill(history, 100);
    const query = { from: 0, to: 101, limit: 60 };
    const before = history.bins(query);
    history.add(recordOf(100, 0));
    const after = history.bins(query);
    expect(after.slice(0, 50).map((bin, index) => bin === before[index])).toEqual(
      Array<boolean>(50).fill(true),
    );
    expect(after[50]!.records).toBe(1);
    history.add(recordOf(100, 1));
    expect(history.bins(query)[50]!.records).toBe(2);
  });

  it.each([
    ['held one by one', 1000, undefined],
    ['of the whole run', 6001, undefined],
    ['that were read of a rank', 6001, 1],
  ])('ends where the run does, in bins %s', (_, length, rank) => {
    const history = stored(2, length);
    const bins = history.bins({ from: 0, to: length, limit: 50, rank });
    const last = bins.at(-1)!;
    expect([last.to, last.to - last.from]).toEqual([length, last.count]);
    expect(last.count).toBeLessThan(bins[0]!.count);
  });

  it('shows one rank on request, recent and long ago', () => {
    const history = stored(3, 6000);
    const recent = history.bins({ from: 5990, to: 6000, limit: 100, rank: 2 });
    expect(recent.map((bin) => meanOf(bin, 'loss'))).toEqual(
      Array.from({ length: 10 }, (_, index) => (5990 + index) * 10 + 2),
    );
    const whole = history.bins({ from: 0, to: 6000, limit: 50, rank: 2 });
    const weighted = whole.reduce(
      (sum, bin) => sum + bin.count * (meanOf(bin, 'loss') ?? NaN),
      0,
    );
    expect(weighted / 6000).toBeCloseTo(29_995 + 2, 6);
  });

  it('keeps its bins at most two thousand however long the run is', () => {
    const history = new RunHistory(1);
    fill(history, 20_001);
    const bins = history.bins({ from: 0, to: 20_001, limit: 5000 });
    expect(bins.length).toBeLessThanOrEqual(2000);
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(20_001);
  });

  it('takes a thinned past after the present without counting anything twice', () => {
    const history = new RunHistory(1);
    for (let i = 90; i < 100; i++)
      history.add(iterationRecord({ rank: 0, iteration: i }));
    for (let i = 0; i < 90; i += 3) {
      history.add(iterationRecord({ rank: 0, iteration: i }));
    }
    for (let i = 95; i < 100; i++)
      history.add(iterationRecord({ rank: 0, iteration: i }));
    const bins = history.bins({ from: 0, to: 100, limit: 2000 });
    expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(40);
    expect(history.completeLength).toBe(100);
  });

  it('says of the first bin of a view which iterations are in it', () => {
    const history = new RunHistory(1);
    fill(history, 400);
    const bins = history.bins({ from: 355, to: 400, limit: 20 });
    expect(bins.slice(0, 2).map(({ from, to }) => [from, to])).toEqual([
      [355, 356],
      [356, 360],
    ]);
    expect(meanOf(bins[0]!, 'loss')).toBe(3550);
    // The others stand for several iterations, so that bars have extremes.
    expect(phaseTable(bins, ['compute']).columns).toContain('wall least ms');
    expect(describePhases(bins, 'Mean')).toContain('each bar the mean of 4 iterations');
    expect(phaseBars(bins, () => true).spreads[1]).toBeDefined();
  });

  it('leaves a quantity undefined that no record had', () => {
    const history = new RunHistory(1);
    fill(history, 3);
    const [bin] = history.bins({ from: 0, to: 3, limit: 1 });
    expect(meanOf(bin!, 'density')).toBeUndefined();
    expect(meanOf(bin!, 'overlapped')).toBe(0);
    expect(extremesOf(bin!, 'metric')).toBeUndefined();
  });

  it('of a run that was opened has each record once, whatever comes twice or late', () => {
    const length = 3000;
    const sequenceOf = (iteration: number, rank: number): number =>
      iteration * 2 + rank + 1;
    const history = new RunHistory(2);
    const width = history.widthFor(length);
    const query = { from: 0, to: Number.MAX_SAFE_INTEGER, width };
    history.addPiece(query, piece(2, length, query));
    const from = length - 500;
    history.readsFrom(from);
    for (let iteration = from; iteration < length + 40; iteration++) {
      for (let rank = 0; rank < 2; rank++) {
        const sequence = sequenceOf(iteration, rank);
        history.add(recordOf(iteration, rank), sequence);
        history.add(recordOf(iteration, rank), sequence);
      }
    }
    // A push that the bins have already, of an iteration that is not held.
    history.add(recordOf(7, 1), sequenceOf(7, 1));
    const bins = history.bins({ from: 0, to: length + 40, limit: 300 });
    const records = bins.reduce((sum, bin) => sum + bin.records, 0);
    expect(records).toBe(2 * (length + 40));
    const sum = bins.reduce((all, bin) => all + bin.records * meanOf(bin, 'loss')!, 0);
    expect(sum / records).toBeCloseTo(average([0.5, (length + 39) * 10 + 0.5]), 6);
    expect(extremesOf(bins.at(-1)!, 'loss')![1]).toBe((length + 39) * 10 + 1);
  });

  it('asks for bins of a part that it has only in wider ones, and shows those until then', () => {
    const asked: BinsQuery[] = [];
    const history = stored(2, 9000, asked);
    asked.length = 0;
    const view = { from: 1003, to: 1203, limit: 300 };
    const before = history.bins(view);
    expect(asked).toMatchObject([{ from: 960, to: 1216, width: 1, rank: undefined }]);
    expect(before[0]!.to - before[0]!.from).toBeGreaterThan(1);
    const after = history.bins(view);
    expect(after).toHaveLength(200);
    expect(after.map((bin) => meanOf(bin, 'loss'))).toEqual(
      Array.from({ length: 200 }, (_, index) => (1003 + index) * 10 + 0.5),
    );
    // Moved a little, it has all it needs.
    expect(history.bins({ from: 970, to: 1170, limit: 300 })).toHaveLength(200);
    expect(asked).toHaveLength(1);
    // Where it ends in iterations that are held one by one, these are drawn.
    const last = { from: 4000, to: 9000, limit: 3000 };
    history.bins(last);
    const mixed = history.bins(last);
    expect(mixed.reduce((sum, bin) => sum + bin.records, 0)).toBe(10_000);
  });
});
