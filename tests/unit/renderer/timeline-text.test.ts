/** The sentence of a timeline: what it has, and what it lacks. */
import { expect, test } from 'vitest';
import { describeTimeline } from '../../../src/renderer/charts/timeline/timeline-text.ts';
import { timelineOf } from '../../../src/shared/trace/timeline.ts';
import { recordOf } from '../trace/made-up-traces.ts';

test('says which records came too late to have spans', () => {
  const whole = recordOf(0, [[0, 'compute', 0, 10]]);
  const late = { ...recordOf(1, [[0, 'compute', 0, 10]]), spans: [] };
  const told = describeTimeline(timelineOf([whole, late]));
  expect(told).toMatch(/^Iteration 7, 10\.0 ms: 1 spans, 0 messages;/);
  expect(told).toContain('1 of 2 records have no spans');
  expect(describeTimeline(timelineOf([whole]))).not.toContain('no spans');
});
