/** Markers in charts, from a run's events. */
import { expect, it } from 'vitest';
import { markersOf, nearIterationOf } from '../../../src/renderer/charts/markers.ts';
import type { RunEvent } from '../../../src/shared/records/record-kinds.ts';

const checkpoint = { type: 'checkpoint', bytes: 10, wall: 1, iteration: 100 } as const;
const error = { code: 'WORKER_DIED', message: 'gone' };

const EVENTS = [
  { type: 'evaluation', at: 900, iteration: 90, samples: 10, wall: 1, metric: 0.5 },
  { ...checkpoint, at: 1000, node: 'a' },
  { ...checkpoint, at: 1001, node: 'b' },
  { type: 'interrupted', at: 1050, node: 'b', error },
  { type: 'notice', at: 1055, level: 'info', code: 'DATA', message: 'read' },
  { type: 'restarted', at: 1060, node: 'b', iteration: 100, processes: [] },
] as unknown as readonly RunEvent[];

it('has evaluations, one checkpoint for all nodes, and faults at their moments', () => {
  const markers = markersOf(EVENTS, (at) => at / 10);
  expect(markers.map(({ iteration, kind, label }) => [iteration, kind, label])).toEqual(
    [
      [90, 'evaluation', 'Evaluation'],
      [100, 'checkpoint', 'Checkpoint'],
      [100, 'fault', 'Restarted'],
      [105, 'fault', 'Interrupted'],
    ],
  );
});

it('leaves out what is at no iteration that is known', () => {
  const kinds = markersOf(EVENTS, () => undefined).map(({ label }) => label);
  expect(kinds).not.toContain('Interrupted');
  expect(kinds).toContain('Restarted');
});

const notice = (at: number, code: string, message: string) =>
  ({ type: 'notice', at, level: 'warning', code, message }) as const;

it('marks when ranks are suspended or silent, and when none is any more', () => {
  const suspended = 'rank 2 (process 7) is suspended: kill -CONT 7 continues the run';
  const silent = { type: 'alert', rule: 'silent-rank', title: 'Rank silent' } as const;
  const events: readonly RunEvent[] = [
    notice(3440, 'RANKS_SUSPENDED', suspended),
    notice(3450, 'RANKS_CONTINUED', 'rank 2 (process 7) is no longer suspended'),
    notice(3455, 'COLLECTIVE_CHOSEN', 'auto chose ring'),
    { ...silent, phase: 'raised', at: 3500, message: 'nothing has arrived' },
    notice(3600, 'RANKS_HEARD', 'all ranks report again'),
  ];
  const markers = markersOf(events, (at) => at / 10);
  expect(markers.map(({ iteration, kind, label }) => [iteration, kind, label])).toEqual(
    [
      [344, 'stall', 'rank 2 (process 7) is suspended'],
      [345, 'stall', 'rank 2 (process 7) is no longer suspended'],
      [350, 'stall', 'Alert: Rank silent'],
      [360, 'stall', 'all ranks report again'],
    ],
  );
  expect(events.map((event) => nearIterationOf(event, (at) => at / 10))).toEqual([
    344,
    345,
    undefined,
    350,
    360,
  ]);
  expect(EVENTS.map((event) => nearIterationOf(event, (at) => at / 10))).toEqual([
    undefined,
    undefined,
    undefined,
    105,
    undefined,
    undefined,
  ]);
});
