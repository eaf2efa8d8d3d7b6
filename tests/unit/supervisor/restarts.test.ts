/** When an interrupted run is tried again, and when no more. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  MOST_RESTARTS,
  Restarts,
} from '../../../src/agent/supervisor/ranks/restarts.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const HOUR_MS = 3600_000;

test('a run that makes no progress is tried a few times', () => {
  const restarts = new Restarts(() => undefined);
  for (let left = MOST_RESTARTS; left > 0; left--) {
    expect(restarts.interrupted()).toBe(true);
  }
  expect(restarts.interrupted()).toBe(false);
  restarts.progressed();
  expect(restarts.interrupted()).toBe(true);
});

test('a job that is not taken is submitted again for a day, at most every few seconds', () => {
  const begun = performance.now();
  const attempts: number[] = [];
  let ended: number | undefined;
  const restarts: Restarts = new Restarts(() => {
    attempts.push(performance.now() - begun);
    if (!restarts.unsubmitted()) ended = performance.now() - begun;
  });
  expect(restarts.unsubmitted()).toBe(true);
  vi.advanceTimersByTime(30 * HOUR_MS);
  expect(attempts.slice(0, 3)).toEqual([5000, 15_000, 35_000]);
  expect(ended! / HOUR_MS).toBeCloseTo(24, 0);
  // Once in five minutes, after a while.
  expect(attempts.length).toBeLessThan(300);
  // It counts as no interruption of the run.
  expect(restarts.interrupted()).toBe(true);
});

test('a run that was interrupted again has another day', () => {
  let attempts = 0;
  const restarts = new Restarts(() => attempts++);
  restarts.unsubmitted();
  vi.advanceTimersByTime(25 * HOUR_MS);
  restarts.soon();
  vi.advanceTimersByTime(HOUR_MS);
  expect(restarts.unsubmitted()).toBe(true);
  restarts.close();
  expect(attempts).toBe(2);
});
