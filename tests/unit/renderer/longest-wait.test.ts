import { expect, test } from 'vitest';
import { longestWait } from '../../../src/renderer/state/runs/longest-wait.ts';

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
