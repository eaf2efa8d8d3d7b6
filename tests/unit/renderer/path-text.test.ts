/** The critical path in a sentence: what it names, and that its parts are all of it. */
import { expect, test } from 'vitest';
import { describePath } from '../../../src/renderer/charts/timeline/path-text.ts';
import { criticalPaths } from '../../../src/renderer/charts/timeline/critical-path.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { MS, recordOf } from '../trace/made-up-traces.ts';

const timeline = timelineOf([
  recordOf(3, [
    [0, 'data', 0, 2],
    [0, 'compute', 2, 62],
    [0, 'compress', 62, 70],
    [0, 'wait', 70, 91],
    [0, 'reduce', 91, 95],
    [0, 'apply', 95, 100],
  ]),
]);
const paths = criticalPaths(timeline);

test('names the largest parts, and sums the rest', () => {
  expect(describePath(timeline, paths, { from: 0, to: 100 * MS })).toBe(
    'Critical path of iteration 7: 60 % compute on rank 3, 21 % waiting for messages, ' +
      '8 % compress on rank 3, 5 % apply on rank 3, 6 % in smaller parts.',
  );
});

test('is of a stretch alone', () => {
  expect(describePath(timeline, paths, { from: 60 * MS, to: 64 * MS })).toBe(
    'Critical path of iteration 7: 50 % compute on rank 3, 50 % compress on rank 3.',
  );
  expect(describePath(timeline, paths, { from: 200 * MS, to: 300 * MS })).toBe('');
});
