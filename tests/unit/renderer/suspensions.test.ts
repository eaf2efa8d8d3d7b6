import { expect, test } from 'vitest';
import {
  stretchOf,
  suspensionsIn,
  suspensionText,
} from '../../../src/renderer/state/runs/suspensions.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import { iterationRecord } from './records.ts';

const notice = (at: number, code: string, message: string): RunEvent => ({
  type: 'notice',
  at,
  level: 'info',
  code,
  message,
});
const END = 'kill -CONT 17 continues the run; a stop continues and ends it';
const events: readonly RunEvent[] = [
  notice(10, 'RANKS_SUSPENDED', `rank 2 (process 17) is suspended: ${END}`),
  notice(20, 'COLLECTIVE_CHOSEN', 'auto chose ring'),
  notice(30, 'RANKS_CONTINUED', 'no rank is suspended any more'),
  notice(
    50,
    'RANKS_SUSPENDED',
    `ranks 0, 1 (processes 17, 18) and the program of rank 3 (process 19) are suspended: ${END}`,
  ),
];
const textsIn = (from: number, to: number): readonly string[] =>
  suspensionsIn(events, { from, to }).map((each) =>
    suspensionText(each, (at) => `09:${String(at)}`),
  );

test('tells who was seen suspended at a time, and until when', () => {
  expect(textsIn(15, 25)).toEqual(['Rank 2 was seen suspended 09:10–09:30.']);
  expect(textsIn(0, 9)).toEqual([]);
  expect(textsIn(31, 49)).toEqual([]);
  expect(textsIn(29, 60)).toEqual([
    'Rank 2 was seen suspended 09:10–09:30.',
    'Ranks 0, 1 and the program of rank 3 were seen suspended 09:50 and later.',
  ]);
});

test('an iteration lasts from its first rank to its last', () => {
  const records = [
    iterationRecord({ rank: 0, iteration: 0, at: 100, phases: { compute: 5 } }),
    iterationRecord({ rank: 1, iteration: 0, at: 90, phases: { compute: 30 } }),
  ];
  expect(stretchOf(records)).toEqual({ from: 90, to: 120 });
});
