/** The horizontal axis of a run: iterations, time and bytes, there and back. */
import { describe, expect, it } from 'vitest';
import type { AxisMap } from '../../../src/renderer/charts/axis-map.ts';
import { axisMapOf } from '../../../src/renderer/charts/axis-map.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { iterationRecord, type RecordShape } from './records.ts';

type Shape = (iteration: number, rank: number) => Partial<RecordShape>;

function historyOf(length: number, shape: Shape, ranks = 2): RunHistory {
  const history = new RunHistory(ranks);
  for (let iteration = 0; iteration < length; iteration++) {
    for (let rank = 0; rank < ranks; rank++)
      history.add(iterationRecord({ rank, iteration, ...shape(iteration, rank) }));
  }
  return history;
}

/** An axis as a page has it that shows a part. */
function axis(
  history: RunHistory,
  kind: 'time' | 'clock' | 'bytes',
  part = { from: 0, to: history.length },
): AxisMap {
  const bins = (range: typeof part) => history.bins({ ...range, limit: 300 });
  const { length } = history;
  return axisMapOf(kind, {
    whole: bins({ from: 0, to: length }),
    part: bins(part),
    length,
  });
}

describe('an axis of time', () => {
  it('has each iteration at its moment, also across a gap', () => {
    const at = (i: number) => 1_700_000_000_000 + 10 * i + (i >= 50 ? 3_600_000 : 0);
    const history = historyOf(100, (i) => ({ at: at(i) }));
    const clock = axis(history, 'clock');
    const time = axis(history, 'time');
    for (let iteration = 0; iteration < 100; iteration++) {
      expect(clock.toX(iteration)).toBe(at(iteration));
      expect(time.toX(iteration)).toBe(at(iteration) - at(0));
      expect(clock.toIteration(at(iteration))).toBe(iteration);
    }
  });

  it('never goes back, though clocks of ranks differ and a rank is late', () => {
    const history = historyOf(20, (i, rank) => ({ at: 10 * i + 1000 * rank }));
    history.add(iterationRecord({ rank: 0, iteration: 20, at: 200 }));
    const time = axis(history, 'time');
    let before = -Infinity;
    for (let iteration = -5; iteration < 30; iteration += 0.5) {
      const x = time.toX(iteration);
      expect(x).toBeGreaterThanOrEqual(before);
      before = x;
    }
  });

  it('is the same whatever part is shown, and goes on beyond its ends', () => {
    const history = historyOf(4000, (i) => ({ at: 5 * i }));
    const whole = axis(history, 'time');
    const part = axis(history, 'time', { from: 3100, to: 3200 });
    for (const iteration of [-20, 0, 1000.5, 3100, 3150, 3999, 4100]) {
      expect(whole.toX(iteration)).toBeCloseTo(5 * iteration, 6);
      expect(part.toX(iteration)).toBeCloseTo(5 * iteration, 6);
      expect(part.toIteration(5 * iteration)).toBeCloseTo(iteration, 6);
    }
  });
});

describe('an axis of bytes', () => {
  it('has what a rank has sent until then, the mean over ranks', () => {
    const history = historyOf(300, (i, rank) => ({
      wireSent: i % 3 === 0 ? 600 + 100 * rank : 0,
    }));
    for (const part of [undefined, { from: 120, to: 180 }]) {
      const bytes = axis(history, 'bytes', part);
      expect(bytes.toX(-0.5)).toBe(0);
      expect(bytes.toX(119.5)).toBeCloseTo(40 * 650, 6);
      expect(bytes.toX(299.5)).toBeCloseTo(100 * 650, 6);
    }
  });

  it('of a run that sends nothing is that of iterations', () => {
    const bytes = axis(
      historyOf(10, () => ({ wireSent: 0 })),
      'bytes',
    );
    expect(bytes.kind).toBe('iteration');
    expect([bytes.toX(7.5), bytes.toIteration(7.5)]).toEqual([7.5, 7.5]);
  });
});

it('without records, every axis is that of iterations', () => {
  for (const kind of ['time', 'clock', 'bytes'] as const) {
    const map = axisMapOf(kind, { whole: [], part: [], length: 0 });
    expect([map.kind, map.toX(3)]).toEqual(['iteration', 3]);
  }
  const one = axis(
    historyOf(1, () => ({ at: 5 })),
    'clock',
  );
  expect(one.kind).toBe('iteration');
});
