import { expect, test } from 'vitest';
import { suspendedNotice } from '../../../src/agent/supervisor/ranks/suspension-watch.ts';
import {
  stretchOf,
  suspensionsIn,
  suspensionText,
} from '../../../src/renderer/state/runs/suspensions.ts';
import type { Notice } from '../../../src/shared/records/notice.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';
import { iterationRecord } from './records.ts';

const told = (at: number, notice: Notice): RunEvent => ({
  type: 'notice',
  at,
  ...notice,
});
const info = (code: Notice['code'], message: string): Notice => ({
  level: 'info',
  code,
  message,
});
// As the supervisor words it.
const events: readonly RunEvent[] = [
  told(10, suspendedNotice([{ rank: 2, pid: 17, isProgram: false }])),
  told(20, info('COLLECTIVE_CHOSEN', 'auto chose ring')),
  told(30, info('RANKS_CONTINUED', 'no rank is suspended any more')),
  told(
    50,
    suspendedNotice([
      { rank: 0, pid: 17, isProgram: false },
      { rank: 1, pid: 18, isProgram: false },
      { rank: 3, pid: 19, isProgram: true },
    ]),
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
