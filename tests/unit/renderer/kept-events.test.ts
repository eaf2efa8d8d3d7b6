/** The page keeps a bounded number of events, and those that say what the run is for ever. */
import { expect, test } from 'vitest';
import { keptEvents } from '../../../src/renderer/state/history/kept-events.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import { started, switchRecord } from '../main/sample-records.ts';

const notice = (n: number): RunEvent => ({
  type: 'notice',
  at: n,
  level: 'info',
  code: 'DATA',
  message: `notice ${n}`,
});

test('events that come one by one are dropped from the oldest on, but for the run’s history', () => {
  const history = [started, switchRecord(5, 'none', 'topk')] as RunEvent[];
  let events: readonly RunEvent[] = history;
  let dropped = 0;
  let largest = 0;
  for (let n = 0; n < 20_000; n++) {
    const kept = keptEvents([...events, notice(n)]);
    ({ events } = kept);
    dropped += kept.dropped;
    largest = Math.max(largest, events.length);
  }
  expect(events.slice(0, 2)).toEqual(history);
  expect(events.at(-1)).toEqual(notice(19_999));
  expect(events.length + dropped).toBe(20_002);
  expect(largest).toBeLessThanOrEqual(2500);
});
