/** The step from which programs that are only observed are traced: none that a rank has told. */
import { expect, test } from 'vitest';
import { UntoldSteps } from '../../../src/agent/supervisor/runs/untold-steps.ts';

test.each([
  ['before the first step', [], 0],
  ['of steps of 20 ms, a second ahead', [[40, 20]], 41 + 50],
  ['of the one in progress, where a step takes longer', [[3, 5000]], 4],
  [
    'after the furthest rank',
    [
      [40, 100],
      [39, 10],
      [12, 1],
    ],
    41 + 10,
  ],
  ['of steps that take no time', [[7, 0]], 8 + 1000],
] as const)('is %s', (_, told, first) => {
  const untold = new UntoldSteps();
  for (const [iteration, wall] of told) untold.saw({ iteration, wall });
  expect(untold.first).toBe(first);
});
