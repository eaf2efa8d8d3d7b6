import { describe, expect, it } from 'vitest';
import {
  logRange,
  rangeFromZero,
  robustRange,
  roundUp,
} from '../../../src/renderer/charts/axis-range.ts';
import { barRange, fitted } from '../../../src/renderer/charts/bar-heights.ts';
import {
  meanCurve,
  smoothCurve,
  valueAt,
} from '../../../src/renderer/charts/curves.ts';
import {
  densityCurve,
  localDensity,
  reducedDensity,
} from '../../../src/renderer/charts/densities.ts';
import { cutPeaks } from '../../../src/renderer/charts/cut-peaks.ts';
import { topsOf } from '../../../src/renderer/charts/machines/machine-lines.ts';
import {
  describeBar,
  describePhases,
  phaseTable,
} from '../../../src/renderer/charts/phase-table.ts';
import { spanAxis, spanRange } from '../../../src/renderer/charts/span.ts';
import {
  cellText,
  iterationCell,
  iterationLabel,
  type TableCell,
} from '../../../src/renderer/charts/table-twin.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { phasesOf } from '../../../src/shared/records/phases.ts';
import { iterationRecord } from './records.ts';

const numberIn = (cell: TableCell): number => Number(cellText(cell));

function history(length: number): RunHistory {
  const made = new RunHistory(2);
  for (let iteration = 0; iteration < length; iteration++) {
    for (let rank = 0; rank < 2; rank++) {
      made.add(
        iterationRecord({
          rank,
          iteration,
          phases: { compute: 3, wait: 1 + rank },
          loss: iteration,
        }),
      );
    }
  }
  return made;
}

describe('bar heights', () => {
  it('leave room for a spread that needs little of it, and cut one that would flatten the bars', () => {
    expect(barRange([10, 11, 12], [])).toEqual(rangeFromZero([12]));
    expect(barRange([10, 11, 12], [14, 15, 19]).max).toBe(20);
    expect(barRange([10, 11, 12], [14, 15, 658]).max).toBe(rangeFromZero([12]).max);
  });

  it('leave room for spreads if most of them need it, not for the longest ones', () => {
    const heights = Array<number>(40).fill(10);
    const longest = heights.map((_, index) => 20 + (index % 5));
    expect(barRange(heights, longest).max).toBe(30);
    expect(barRange(heights, [...longest.slice(1), 900]).max).toBe(30);
    // Bars would be specks.
    expect(barRange(heights, Array<number>(40).fill(900)).max).toBe(15);
  });

  it('keep the proportions of a bar that is taller than the axis', () => {
    expect(fitted(5, 10)).toBe(1);
    expect(fitted(10, 10)).toBe(1);
    // 30 % computing and 70 % waiting, on an axis of 10 ms.
    expect([12, 28].map((time) => time * fitted(40, 10))).toEqual([3, 7]);
  });

  it('are told with the shortest and the longest iteration of a merged bar', () => {
    const spiky = new RunHistory(1);
    for (let iteration = 0; iteration < 320; iteration++) {
      const compute = iteration === 100 ? 658 : 5;
      spiky.add(iterationRecord({ rank: 0, iteration, phases: { compute } }));
    }
    const bins = spiky.bins({ from: 0, to: 320, limit: 40 });
    const { columns, rows } = phaseTable(bins, phasesOf('whole'));
    const most = columns.indexOf('wall most ms');
    expect(Math.max(...rows.map(({ cells }) => numberIn(cells[most]!)))).toBe(658);
    expect(rows.filter(({ cells }) => numberIn(cells[most]!) > 5)).toHaveLength(1);
    expect(bins.map(describeBar).join()).toContain('(5.00 ms to 658 ms)');
    const fine = phaseTable(
      spiky.bins({ from: 90, to: 110, limit: 40 }),
      phasesOf('whole'),
    );
    expect(fine.columns).not.toContain('wall most ms');
  });
});

describe('axis ranges', () => {
  it.each([
    [0.3, 0.3],
    [0.31, 0.4],
    [7.2, 8],
    [99, 100],
    [1, 1],
  ])('%d rounds up to %d', (value, rounded) => {
    expect(roundUp(value)).toBeCloseTo(rounded, 12);
  });

  it('leave room above the largest value and have an end without any', () => {
    expect(rangeFromZero([1, 7.9, NaN])).toEqual({ min: 0, max: 10 });
    expect(rangeFromZero([])).toEqual({ min: 0, max: 1 });
  });

  it('hold values below zero', () => {
    expect(rangeFromZero([-7.9, 1])).toEqual({ min: -10, max: 1.5 });
    expect(rangeFromZero([-1])).toEqual({ min: -1.5, max: 0 });
  });

  it('that cut peaks say how high each is, once for neighbours', () => {
    const points = [1, 9, 12, 2, 8, 3].map((y, x) => ({ x, y }));
    expect(cutPeaks(points, 5, (value) => `${value} kB/s`)).toEqual([
      { x: 2, y: 12, label: '12 kB/s' },
      { x: 4, y: 8, label: '8 kB/s' },
    ]);
    expect(cutPeaks(points, 12, String)).toEqual([]);
  });

  it('of machines are about the largest line, not about those that stay near zero', () => {
    const idle = { cells: Array.from({ length: 40 }, () => 1) };
    const busy = { cells: Array.from({ length: 40 }, (_, at) => (at % 3 ? 4000 : 9)) };
    const tops = topsOf([idle, idle, idle, busy], [...busy.cells.keys()]);
    expect(robustRange(tops.map(({ y }) => y)).max).toBeGreaterThan(4000);
    expect(topsOf([{ cells: [null, 5] }], [3, 4])).toEqual([{ x: 4, y: 5 }]);
  });

  it('are not stretched by a few outliers, only by what most values are', () => {
    const calm = Array.from({ length: 40 }, (_, index) => 5 + (index % 4) * 0.1);
    expect(robustRange([...calm, 120])).toEqual({ min: 0, max: 10 });
    expect(robustRange([...calm, 9])).toEqual(rangeFromZero([9]));
    expect(robustRange([...calm, ...Array<number>(20).fill(120)])).toEqual(
      rangeFromZero([120]),
    );
    expect(robustRange([])).toEqual({ min: 0, max: 1 });
  });

  it('are whole powers of ten on a log scale, ignoring values that are not positive', () => {
    expect(logRange([48_000, 1_195_000, 0])).toEqual({ min: 10_000, max: 10_000_000 });
    expect(logRange([1000])).toEqual({ min: 1000, max: 10_000 });
    expect(logRange([])).toEqual({ min: 1, max: 10 });
  });
});

describe('spans', () => {
  it('cover the last iterations, and keep their width while the run is short', () => {
    expect(spanRange(50, 500)).toEqual({ from: 450, to: 500 });
    expect(spanRange('all', 500)).toEqual({ from: 0, to: 500 });
    expect(spanAxis(50, 10)).toEqual({ min: -0.5, max: 49.5 });
    expect(spanAxis(50, 500)).toEqual({ min: 449.5, max: 499.5 });
    expect(spanAxis('all', 500)).toEqual({ min: -0.5, max: 499.5 });
  });
});

describe('the table of phases', () => {
  it('lists each bar with all its phases, which add up to its wall time', () => {
    const bins = history(6).bins({ from: 0, to: 6, limit: 100 });
    const phases = phasesOf('whole');
    const { columns, rows } = phaseTable(bins, phases);
    expect(columns).toHaveLength(phases.length + 3);
    expect(rows.map((row) => cellText(row.cells[0]!))).toEqual([
      '0',
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    for (const { cells } of rows) {
      const times = cells.slice(1, 1 + phases.length).map(numberIn);
      const wall = numberIn(cells[1 + phases.length]!);
      expect(wall).toBe(4.5);
      expect(times.reduce((sum, time) => sum + time, 0)).toBeCloseTo(wall, 9);
    }
  });

  it('says what its bars are and what the step consists of', () => {
    const whole = history(64);
    expect(
      describePhases(
        whole.bins({ from: 0, to: 64, limit: 100 }),
        'Mean over all ranks',
      ),
    ).toBe(
      'Mean over all ranks, one bar per iteration: 4.50 ms each, compute 67 %, wait 33 %.',
    );
    expect(
      describePhases(whole.bins({ from: 0, to: 64, limit: 9 }), 'Rank 1'),
    ).toContain('each bar the mean of 8 iterations');
    expect(describePhases([], 'Rank 1')).toBe('Waiting for the first iteration.');
  });
});

describe('curves', () => {
  it('of densities end where none was sent, and go on over iterations without exchange', () => {
    const run = new RunHistory(1);
    for (let iteration = 0; iteration < 8; iteration++) {
      const isSparse = iteration < 4 && iteration % 2 === 0;
      run.add(
        iterationRecord({
          rank: 0,
          iteration,
          wireSent: iteration < 4 && !isSparse ? 0 : 1200,
          ...(isSparse || iteration === 7 ? { density: 0.01, nnzReduced: 20 } : {}),
        }),
      );
    }
    const bins = run.bins({ from: 0, to: 8, limit: 100 });
    expect(densityCurve(bins, localDensity)).toEqual(
      [0, 2, 4, 5, 6, 7].map((x) => ({ x, y: x > 3 && x < 7 ? NaN : 0.01 })),
    );
    expect(densityCurve(bins, reducedDensity).map(({ y }) => y)).toEqual([
      ...[0.02, 0.02, NaN, NaN, NaN, 0.02],
    ]);
  });

  it('stand at the middle of their bins', () => {
    const bins = history(16).bins({ from: 0, to: 16, limit: 5 });
    expect(meanCurve(bins, 'loss')).toEqual([
      { x: 1.5, y: 1.5 },
      { x: 5.5, y: 5.5 },
      { x: 9.5, y: 9.5 },
      { x: 13.5, y: 13.5 },
    ]);
  });

  it('without smoothing are the means themselves', () => {
    const bins = history(16).bins({ from: 0, to: 16, limit: 100 });
    expect(smoothCurve(bins, 'loss', 0)).toEqual(meanCurve(bins, 'loss'));
  });

  it('count the iterations of a last bin that is not full', () => {
    const long = new RunHistory(1);
    for (let iteration = 0; iteration <= 6400; iteration++) {
      const loss = iteration === 6400 ? 5 : 1;
      long.add(iterationRecord({ rank: 0, iteration, loss }));
    }
    const bins = long.bins({ from: 0, to: 6401, limit: 300 });
    const smooth = smoothCurve(bins, 'loss', 0.9);
    expect(smooth.at(-1)!.x).toBe(6400);
    expect(smooth.at(-1)!.y).toBeCloseTo(1.4, 12);
    expect(bins.slice(-2).map(iterationLabel)).toEqual(['6368–6399', '6400']);
    expect(iterationCell(bins.at(-1)!)).toMatchObject({ value: 6400, last: 6400 });
  });

  it('have their own places where they begin after the first bins', () => {
    const late = new RunHistory(1);
    for (let iteration = 0; iteration < 6; iteration++) {
      const { loss, ...rest } = iterationRecord({
        rank: 0,
        iteration,
        loss: iteration,
      });
      late.add(iteration < 3 ? rest : { ...rest, loss: loss! });
    }
    const bins = late.bins({ from: 0, to: 6, limit: 100 });
    const smooth = smoothCurve(bins, 'loss', 0);
    expect(bins.map((bin) => valueAt(smooth, bin))).toEqual([
      ...[undefined, undefined, undefined],
      ...[3, 4, 5],
    ]);
  });

  it('leave out what was not observed', () => {
    const bins = history(4).bins({ from: 0, to: 4, limit: 100 });
    expect(meanCurve(bins, 'density')).toEqual([]);
    expect(smoothCurve(bins, 'density', 0.9)).toEqual([]);
  });
});
