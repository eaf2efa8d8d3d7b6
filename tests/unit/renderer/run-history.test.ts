import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  extremesOf,
  meanOf,
  RunHistory,
} from '../../../src/renderer/state/run-history.ts';
import { runs } from '../../harness/effort.ts';
import { iterationRecord } from './records.ts';

/** Loss i·10 + rank and compute time i % 7 + rank: means have closed forms. */
function fill(history: RunHistory, length: number): void {
  for (let iteration = 0; iteration < length; iteration++) {
    for (let rank = 0; rank < history.ranks; rank++) {
      history.add(
        iterationRecord({
          rank,
          iteration,
          loss: iteration * 10 + rank,
          phases: { compute: (iteration % 7) + rank },
        }),
      );
    }
  }
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe('run history', () => {
  it.each([200, 9000])(
    'has the extremes of the rank asked for, of %i iterations',
    (length) => {
      const history = new RunHistory(2);
      fill(history, length);
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
          expect(bins.at(-1)!.to).toBeGreaterThanOrEqual(length);
        },
      ),
      { numRuns: runs(12) },
    );
  });

  it('shows one rank on request, recent and long ago', () => {
    const history = new RunHistory(3);
    fill(history, 6000);
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

  it('leaves a quantity undefined that no record had', () => {
    const history = new RunHistory(1);
    fill(history, 3);
    const [bin] = history.bins({ from: 0, to: 3, limit: 1 });
    expect(meanOf(bin!, 'density')).toBeUndefined();
    expect(meanOf(bin!, 'overlapped')).toBe(0);
    expect(extremesOf(bin!, 'metric')).toBeUndefined();
  });
});
