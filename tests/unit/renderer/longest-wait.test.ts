import { expect, test } from 'vitest';
import {
  longestWait,
  waitText,
} from '../../../src/renderer/state/runs/longest-wait.ts';
import { iterationRecord } from './records.ts';

test('names who waited longest, and for whom', () => {
  const records = [
    { rank: 0, waitedFor: { '1': 150, '2': 3 } },
    { rank: 1, waitedFor: { '0': 5 } },
    { rank: 2, waitedFor: { '1': 159 } },
  ];
  expect(longestWait(records)).toEqual({ rank: 2, awaited: 1, time: 159 });
});

test.each([[[]], [[{ rank: 0 }]], [[{ rank: 0, waitedFor: { '1': 0 } }]]])(
  'says nothing without a wait: %j',
  (records) => {
    expect(longestWait(records)).toBeUndefined();
  },
);

test.each([
  [600, 'The longest wait: rank 1 waited 504 ms for rank 0.'],
  [
    4837,
    'Rank 1 spent 4.84 s in receive, reading bytes from the sockets; ' +
      'the longest wait was shorter: rank 1 waited 504 ms for rank 0.',
  ],
])('tells a much longer receive first: %i ms', (receive, text) => {
  const records = [
    iterationRecord({ rank: 0, iteration: 0, phases: { receive: 500 } }),
    iterationRecord({
      rank: 1,
      iteration: 0,
      phases: { receive, wait: 504 },
      waitedFor: { '0': 504 },
    }),
  ];
  expect(waitText(records)).toBe(text);
  expect(waitText(records.slice(0, 1))).toBeUndefined();
});
