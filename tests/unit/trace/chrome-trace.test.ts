/** Exported traces, read by a reader of their own: nothing is before 0, in the page's timeline neither. */
import { expect, test } from 'vitest';
import type { TraceRecord, TraceSpan } from '../../../src/shared/records/trace.ts';
import { chromeTrace } from '../../../src/shared/trace/chrome-trace.ts';
import { bucketName, timelineOf } from '../../../src/shared/trace/timeline.ts';
import { readChromeTrace } from '../../harness/chrome-trace-reader.ts';

const MS = 1e6;
const recordOf = (
  rank: number,
  origin: number,
  own: Partial<TraceRecord> = {},
): TraceRecord => ({
  type: 'trace',
  at: origin,
  rank,
  iteration: 4,
  origin,
  wall: 10 * MS,
  threads: ['trainer', 'engine'],
  buckets: [],
  spans: [],
  messages: [],
  ...own,
});
const read = (records: readonly TraceRecord[]) =>
  readChromeTrace([...chromeTrace(records, 'run')].join(''));

test('an iteration that began before that of the first rank is not before 0', () => {
  // Rank 0's clock is 3 ms behind, and rank 1 began 2 ms before it. Messages take 200 µs.
  const records = [
    recordOf(0, 1000, {
      messages: [
        [0, 1, 0, 16, 0, 8, 5 * MS],
        [1, 1, 0, 16, 0, 8, 5.4 * MS],
      ],
    }),
    recordOf(1, 1001, {
      messages: [
        [0, 0, 0, 16, 0, 8, 7.2 * MS],
        [1, 0, 0, 16, 0, 8, 7.2 * MS],
      ],
    }),
  ];
  const { flows, other, slices } = read(records);
  expect(slices.map(({ process, start }) => [process, start])).toEqual([
    [0, 2000],
    [1, 0],
  ]);
  expect(flows.map(({ from, to }) => to.at - from.at)).toEqual([200, 200]);
  // By the clock of rank 0.
  expect(other['base']).toBe(998);
  const { iterations, length } = timelineOf(records);
  expect(iterations.map(({ from }) => from)).toEqual([2 * MS, 0]);
  expect(length).toBe(12 * MS);
});

test('what was computed beside the exchange before is shown from its begin', () => {
  // With doubleBuffer, a traced iteration has a gradient that was begun earlier.
  const spans: readonly TraceSpan[] = [
    [0, 'compute', -1, -1, -15 * MS, 14 * MS, 0],
    [1, 'send', 0, -1, MS, MS, 0],
  ];
  const records = [recordOf(0, 1000, { spans: [...spans] })];
  const { slices } = read(records);
  expect(slices.map(({ name, start }) => [name, start])).toEqual([
    ['iteration 4', 15_000],
    ['compute', 0],
    ['send', 16_000],
  ]);
  const { lanes, length } = timelineOf(records);
  expect(lanes.map(({ starts }) => [...starts])).toEqual([[0], [16 * MS]]);
  expect(length).toBe(25 * MS);
});

test('a bucket has the name that it had in its iteration', () => {
  const timeline = timelineOf([
    recordOf(0, 1000, { iteration: 3 }),
    recordOf(0, 1010, { iteration: 4, buckets: ['all'] }),
    recordOf(0, 1020, { iteration: 5, buckets: ['dense', 'bias'] }),
  ]);
  const name = (iteration: number, bucket: number) =>
    bucketName(timeline, { rank: 0, iteration }, bucket);
  expect([name(4, 0), name(5, 0), name(5, 1)]).toEqual(['all', 'dense', 'bias']);
  expect([name(3, 0), name(4, 1), name(9, 0)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
