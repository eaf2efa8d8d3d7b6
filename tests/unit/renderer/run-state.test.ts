/** What lists say of the job that a run waits for. */
import { expect, test } from 'vitest';
import { queueLines } from '../../../src/renderer/state/runs/run-state.ts';

const now = new Date(2026, 2, 1, 12, 0).getTime();
const HOUR = 3_600_000;

test.each([
  [{ job: '17' }, ['job 17']],
  [{ job: '17', reason: 'Priority' }, ['job 17, Priority']],
  [{ job: '17', expected: now + HOUR }, ['job 17', 'expected today 13:00']],
  [
    { job: '17', reason: 'Resources', expected: now + 24 * HOUR },
    ['job 17, Resources', 'expected 2 Mar 12:00'],
  ],
])('%o', (queue, lines) => {
  expect(queueLines(queue, now)).toEqual(lines);
});
