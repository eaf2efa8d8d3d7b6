/** Markers in charts, from a run's events. */
import { expect, it } from 'vitest';
import { markersOf } from '../../../src/renderer/charts/markers.ts';
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
