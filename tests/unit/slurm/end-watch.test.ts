/** When an allocation counts as about to end. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EndWatch } from '../../../src/agent/slurm/end-watch.ts';

const HOUR_MS = 3600_000;
const MINUTE_MS = 60_000;
let told: number[];
let watch: EndWatch;
const start = 1_000_000 * HOUR_MS;

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  told = [];
  watch = new EndWatch((end) => told.push(end));
});
afterEach(() => {
  vi.useRealTimers();
});

test('a minute before its end', () => {
  const end = start + HOUR_MS;
  watch.runs({ start, end });
  vi.advanceTimersByTime(HOUR_MS - MINUTE_MS - 1);
  expect(told).toEqual([]);
  // Said again at every look.
  watch.runs({ start, end });
  vi.advanceTimersByTime(1);
  expect(told).toEqual([end]);
});

test('a short one at a tenth of its time', () => {
  watch.runs({ start, end: start + MINUTE_MS });
  vi.advanceTimersByTime(0.9 * MINUTE_MS);
  expect(told).toHaveLength(1);
});

test('one that is extended, later', () => {
  watch.runs({ start, end: start + HOUR_MS });
  vi.advanceTimersByTime(HOUR_MS / 2);
  watch.runs({ start, end: start + 2 * HOUR_MS });
  vi.advanceTimersByTime(HOUR_MS);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(HOUR_MS);
  expect(told).toEqual([start + 2 * HOUR_MS]);
});

test('a suspended one not before it runs again', () => {
  const end = start + HOUR_MS;
  watch.runs({ start, end });
  vi.advanceTimersByTime(HOUR_MS / 2);
  watch.stop();
  vi.advanceTimersByTime(2 * HOUR_MS);
  expect(told).toEqual([]);
  watch.runs({ start, end: end + 2 * HOUR_MS });
  vi.advanceTimersByTime(HOUR_MS / 2);
  expect(told).toEqual([end + 2 * HOUR_MS]);
});

test('one that runs on with the end that it had before, at that end', () => {
  const end = start + HOUR_MS;
  watch.runs({ start, end });
  watch.stop();
  watch.runs({ start, end });
  vi.advanceTimersByTime(HOUR_MS);
  expect(told).toEqual([end]);
});
