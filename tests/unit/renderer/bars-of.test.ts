/** Bars of phases and their axis while a run grows. */
import { expect, it } from 'vitest';
import { barsOf } from '../../../src/renderer/charts/bars-of.ts';
import { ChartView } from '../../../src/renderer/charts/chart-view.svelte.ts';
import { TAIL } from '../../../src/renderer/charts/span.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { iterationRecord } from './records.ts';

function growing(): {
  readonly grow: (by: number) => void;
  readonly history: RunHistory;
} {
  const history = new RunHistory(1);
  const grow = (by: number): void => {
    for (let step = 0; step < by; step++) {
      history.add(iterationRecord({ rank: 0, iteration: history.length }));
    }
  };
  return { grow, history };
}

it('moves the axis on with the bars', () => {
  const { grow, history } = growing();
  // What other charts know of the run's length is older.
  const view = new ChartView(
    () => 200,
    () => TAIL,
  );
  for (const length of [200, 218]) {
    grow(length - history.length);
    const { axis, bins, isFast } = barsOf(view, history);
    expect([bins[0]!.from, bins.at(-1)!.to]).toEqual([length - TAIL, length]);
    expect(axis).toEqual({ min: length - TAIL - 0.5, max: length - 0.5 });
    expect(isFast).toBe(true);
  }
});

it('stands still while charts are paused', () => {
  const { grow, history } = growing();
  grow(200);
  const view = new ChartView(
    () => 200,
    () => TAIL,
  );
  view.pause(true);
  const before = barsOf(view, history);
  grow(50);
  expect(barsOf(view, history).axis).toEqual(before.axis);
  expect(barsOf(view, history).bins.at(-1)!.to).toBe(200);
});

it('draws long parts, and axes of measured places, at the rate of the curves', () => {
  const { grow, history } = growing();
  grow(400);
  const view = new ChartView(
    () => 400,
    () => TAIL,
  );
  view.kind = 'time';
  expect(barsOf(view, history).isFast).toBe(false);
  view.kind = 'iteration';
  view.fit();
  expect(barsOf(view, history).isFast).toBe(false);
});

it('has an axis before the first record', () => {
  const view = new ChartView(
    () => 0,
    () => TAIL,
  );
  expect(barsOf(view, undefined)).toMatchObject({ bins: [], axis: { min: -0.5 } });
});
