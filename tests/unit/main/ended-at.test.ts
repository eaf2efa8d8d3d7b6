import { expect, test } from 'vitest';
import { endedAt, type RunTimes } from '../../../src/main/store/ended-at.ts';

const HOUR = 3_600_000;
const times: RunTimes = {
  createdAt: 10 * HOUR,
  now: 12 * HOUR,
  isHere: false,
  firstAt: 10 * HOUR,
  lastAt: 11 * HOUR,
};

test.each<[string, Partial<RunTimes>, number]>([
  ['one clock', { isHere: true, lastAt: 11 * HOUR + 5 }, 11 * HOUR + 5],
  ['clocks alike', {}, 11 * HOUR],
  ['theirs six hours ahead', { firstAt: 16 * HOUR, lastAt: 17 * HOUR }, 11 * HOUR],
  ['theirs six hours behind', { firstAt: 4 * HOUR, lastAt: 5 * HOUR }, 11 * HOUR],
  ['theirs set back during the run', { lastAt: 9 * HOUR }, 10 * HOUR],
  ['theirs set ahead during the run', { lastAt: 90 * HOUR }, 12 * HOUR],
])('%s', (_, changed, end) => {
  expect(endedAt({ ...times, ...changed })).toBe(end);
});
