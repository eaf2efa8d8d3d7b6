import { expect, test } from 'vitest';
import { scheduleAsItHappened } from '../../../src/main/runs/switch-schedule.ts';
import type { RunDetail } from '../../../src/shared/rpc/run-summary.ts';
import { switchRecord } from './sample-records.ts';

const events = [
  switchRecord(12, 'none', 'topk'),
  { ...switchRecord(30, 'topk', 'none'), residual: 'dropped' },
] as RunDetail['events'];

test('switches happen again at their fences, with all that they set', () => {
  expect(scheduleAsItHappened({ events, iterations: 40 }, [], [])).toEqual([
    {
      at: 12,
      change: {
        method: 'topk',
        ratio: 0.01,
        collective: 'sparse-allgather',
        bucketBytes: 4 * 2 ** 20,
        layers: [],
        quantizeSums: null,
        delta: null,
        residualUnits: 'gradient',
      },
    },
    {
      at: 30,
      change: {
        method: 'none',
        collective: 'ring',
        bucketBytes: 4 * 2 ** 20,
        layers: [],
        quantizeSums: null,
        delta: null,
        residualUnits: 'gradient',
      },
      residual: 'drop',
    },
  ]);
});

test('a switch scheduled for later than the run lived is kept; one that happened is not doubled', () => {
  const launched = [
    { at: 12, change: { method: 'topk' } },
    { at: 90, change: { method: 'a2sgd' } },
  ];
  const schedule = scheduleAsItHappened({ events, iterations: 40 }, launched, []);
  expect(schedule.map(({ at }) => at)).toEqual([12, 30, 90]);
});
