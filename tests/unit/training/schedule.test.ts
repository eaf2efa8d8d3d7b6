import { expect, test } from 'vitest';
import { scheduledRate } from '../../../src/agent/training/optimizers/schedule.ts';

test.each([
  ['constant', [0.2, 0.2, 0.2, 0.2, 0.2]],
  ['linear', [0.2, 0.15, 0.1, 0.05, 0]],
  ['cosine', [0.2, 0.1707, 0.1, 0.0293, 0]],
] as const)('%s over four iterations, and no further', (schedule, rates) => {
  for (const [iteration, rate] of rates.entries()) {
    expect(scheduledRate(schedule, 0.2, iteration, 4)).toBeCloseTo(rate, 4);
  }
  expect(scheduledRate(schedule, 0.2, 9, 4)).toBeCloseTo(rates[4], 12);
});
