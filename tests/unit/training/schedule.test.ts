import { expect, test } from 'vitest';
import {
  scheduledRate,
  type ScheduleSettings,
} from '../../../src/agent/training/optimizers/schedule.ts';

const length = { iterations: 4, ranks: 3 };
const rates = (settings: ScheduleSettings, iterations: number): readonly number[] =>
  Array.from({ length: iterations + 1 }, (_, iteration) =>
    Number(scheduledRate(settings, iteration, { iterations, ranks: 3 }).toFixed(6)),
  );

test.each([
  ['constant', [0.2, 0.2, 0.2, 0.2, 0.2]],
  ['linear', [0.2, 0.15, 0.1, 0.05, 0]],
  ['cosine', [0.2, 0.1707, 0.1, 0.0293, 0]],
] as const)('%s over four iterations, and no further', (schedule, rates) => {
  for (const [iteration, rate] of rates.entries()) {
    expect(scheduledRate({ schedule, lr: 0.2 }, iteration, length)).toBeCloseTo(
      rate,
      4,
    );
  }
  expect(scheduledRate({ schedule, lr: 0.2 }, 9, length)).toBeCloseTo(rates[4], 12);
});

test('polynomial decay of any power', () => {
  const lr = 1;
  expect(rates({ schedule: 'polynomial', lr }, 4)).toEqual([
    1, 0.5625, 0.25, 0.0625, 0,
  ]);
  expect(rates({ schedule: 'polynomial', lr, power: 1 }, 4)).toEqual([
    1, 0.75, 0.5, 0.25, 0,
  ]);
});

test('steps down at each iteration that is listed', () => {
  const settings: ScheduleSettings = { schedule: 'step', lr: 1, decayAt: [3, 1] };
  expect(rates(settings, 4)).toEqual([1, 0.1, 0.1, 0.01, 0.01]);
  expect(rates({ ...settings, decayFactor: 0.5 }, 4)).toEqual([
    1, 0.5, 0.5, 0.25, 0.25,
  ]);
});

test('grows over the warm-up, then decays over what is left', () => {
  const settings = { schedule: 'linear', lr: 0.8, warmupIterations: 4 } as const;
  expect(rates(settings, 8)).toEqual([0.2, 0.4, 0.6, 0.8, 0.8, 0.6, 0.4, 0.2, 0]);
  // A run that ends before its warm-up does not divide by 0.
  expect(rates(settings, 2)).toEqual([0.2, 0.4, 0.6]);
});

test('scaled with the ranks it begins with the rate of one', () => {
  const settings = { schedule: 'constant', lr: 0.1, scaleWithRanks: true } as const;
  expect(rates(settings, 1)).toEqual([0.3, 0.3]);
  expect(rates({ ...settings, warmupIterations: 2 }, 3)).toEqual([0.2, 0.3, 0.3, 0.3]);
});
