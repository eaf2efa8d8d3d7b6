/** Iterations at moments of a run, for events that name none. */
import { describe, expect, it } from 'vitest';
import { IterationClock } from '../../../src/renderer/state/history/iteration-clock.ts';
import { RunHistory } from '../../../src/renderer/state/history/run-history.ts';
import { iterationRecord } from './records.ts';

/** Iterations of 10 ms that begin at 0, 10, …; the one that is slow takes 4 s more. */
function historyOf(length: number, slow = Infinity): RunHistory {
  const history = new RunHistory(2);
  for (let iteration = 0; iteration < length; iteration++) {
    const at = 10 * iteration + (iteration > slow ? 4000 : 0);
    for (let rank = 0; rank < 2; rank++)
      history.add(iterationRecord({ rank, iteration, at: at + rank }));
  }
  return history;
}

describe('the iteration at a moment', () => {
  it('is the one in progress, also while a rank is suspended', () => {
    const clock = new IterationClock(historyOf(700, 344));
    // Iteration 344 begins at 3440, the next one 4010 ms later.
    expect([3435, 3442, 5000, 7448, 7452].map((at) => clock.near(at))).toEqual([
      343, 344, 344, 344, 345,
    ]);
  });

  it('is the first or the newest one beyond the ends, and none before there is any', () => {
    const clock = new IterationClock(historyOf(20));
    expect(clock.near(-5000)).toBe(0);
    expect(clock.near(1_000_000)).toBe(19);
    expect(new IterationClock(new RunHistory(2)).near(5)).toBeUndefined();
  });

  it('is estimated from bins where iterations are no longer held, better from finer ones', () => {
    const history = historyOf(20_000, 3000);
    const at = 10 * 3000 + 2000;
    const coarse = new IterationClock(history).near(at)!;
    expect(Math.abs(coarse - 3000)).toBeLessThanOrEqual(128);
    const shown = historyOf(3100, 3000).bins({ from: 2950, to: 3050, limit: 300 });
    expect(new IterationClock(history, shown).near(at)).toBe(3000);
    // A moment that these bins do not hold.
    const elsewhere = new IterationClock(history, shown).near(104_000)!;
    expect(Math.abs(elsewhere - 10_000)).toBeLessThanOrEqual(2);
    expect(new IterationClock(history).near(10 * 19_990 + 4000)).toBe(19_989);
  });

  it('is told apart within the first bin, too', () => {
    // Bins of four iterations, all held one by one.
    const short = new IterationClock(historyOf(700));
    expect([-5, 5, 12, 25].map((at) => short.near(at))).toEqual([0, 0, 1, 2]);
    // Bins of 128.
    const history = historyOf(20_000);
    const shown = historyOf(200).bins({ from: 0, to: 100, limit: 300 });
    expect(new IterationClock(history, shown).near(602)).toBe(60);
    const coarse = new IterationClock(history);
    expect(coarse.near(-5000)).toBe(0);
    expect(Math.abs(coarse.near(405)! - 40)).toBeLessThanOrEqual(1);
  });
});
