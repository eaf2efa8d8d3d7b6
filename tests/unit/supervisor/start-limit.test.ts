import { expect, test } from 'vitest';
import { StartLimit } from '../../../src/agent/supervisor/ranks/start-limit.ts';
import { ManualClock } from '../manual-clock.ts';

test('each rank that listens gives the others time anew, and none takes any away', () => {
  const clock = new ManualClock();
  const limit = new StartLimit(60_000, 0, clock.now);
  expect(limit.leftMs).toBe(60_000);
  clock.advance(50_000);
  limit.heard();
  expect(limit.leftMs).toBe(60_000);
  expect(limit.seconds).toBe(110);
  clock.advance(70_000);
  expect(limit.leftMs).toBe(0);

  const reading = new StartLimit(60_000, 900_000, clock.now);
  clock.advance(1000);
  reading.heard();
  expect(reading.leftMs).toBe(959_000);
  expect(reading.seconds).toBe(960);
});
