import { expect, test } from 'vitest';
import {
  continuedNotice,
  suspendedNotice,
} from '../../../src/agent/supervisor/ranks/suspension-watch.ts';
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
const of = (rank: number, pid: number, isProgram = false) => ({ rank, pid, isProgram });
// As two supervisors tell it, the one of ranks 0 and 1 and that of ranks 2 and 3.
const events: readonly RunEvent[] = [
  told(10, suspendedNotice([of(2, 17)])),
  told(20, { level: 'info', code: 'COLLECTIVE_CHOSEN', message: 'auto chose ring' }),
  told(22, suspendedNotice([of(0, 17)])),
  told(24, continuedNotice([of(0, 17)])),
  told(26, suspendedNotice([of(2, 17), of(3, 18)])),
  told(30, continuedNotice([of(2, 17), of(3, 18)])),
  told(50, suspendedNotice([of(0, 17), of(1, 18), of(1, 19, true), of(1, 20, true)])),
];
const textsIn = (
  from: number,
  to: number,
  of: readonly RunEvent[] = events,
): readonly string[] =>
  suspensionsIn(of, { from, to }).map((each) =>
    suspensionText(each, (at) => `09:${String(at)}`),
  );

test('tells who was seen suspended at a time, and until when', () => {
  expect(textsIn(15, 21)).toEqual(['Rank 2 was seen suspended 09:10–09:30.']);
  expect(textsIn(0, 9)).toEqual([]);
  expect(textsIn(31, 49)).toEqual([]);
  expect(textsIn(29, 60)).toEqual([
    'Rank 2 was seen suspended 09:10–09:30.',
    'Rank 3 was seen suspended 09:26–09:30.',
    'Ranks 0, 1 and the program of rank 1 were seen suspended 09:50 and later.',
  ]);
});

test('what one machine tells ends nothing of another', () => {
  expect(textsIn(23, 25)).toEqual([
    'Rank 2 was seen suspended 09:10–09:30.',
    'Rank 0 was seen suspended 09:22–09:24.',
  ]);
});

const placed = (type: 'started' | 'restarted', at: number, ...ranks: number[]) =>
  ({
    type,
    at,
    processes: ranks.map((rank) => ({ rank, node: rank < 2 ? 'a' : 'b' })),
  }) as unknown as RunEvent;
const event = (type: RunEvent['type'], at: number, node?: string): RunEvent =>
  ({ type, at, node }) as unknown as RunEvent;

test('a rank whose process is gone is suspended no more', () => {
  const lost = [
    placed('started', 1, 0, 1, 2, 3),
    told(10, suspendedNotice([of(1, 18), of(3, 18, true)])),
    event('interrupted', 15, 'a'),
    placed('restarted', 17, 0, 1),
    placed('restarted', 18, 2, 3),
  ];
  expect(textsIn(12, 40, lost)).toEqual([
    'Rank 1 was seen suspended 09:10–09:15.',
    'The program of rank 3 was seen suspended 09:10–09:18.',
  ]);
  expect(textsIn(19, 40, lost)).toEqual([]);
});

test.each(['failed', 'done'] as const)('none is after a run that is %s', (type) => {
  const over = [told(10, suspendedNotice([of(0, 17)])), event(type, 20)];
  expect(textsIn(12, 40, over)).toEqual(['Rank 0 was seen suspended 09:10–09:20.']);
});

test('an iteration lasts from its first rank to its last', () => {
  const records = [
    iterationRecord({ rank: 0, iteration: 0, at: 100, phases: { compute: 5 } }),
    iterationRecord({ rank: 1, iteration: 0, at: 90, phases: { compute: 30 } }),
  ];
  expect(stretchOf(records)).toEqual({ from: 90, to: 120 });
});
