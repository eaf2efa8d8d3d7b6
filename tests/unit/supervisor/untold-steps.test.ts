/** The step from which programs that are only observed are traced: none that a rank has told. */
import { expect, test } from 'vitest';
import { UntoldSteps } from '../../../src/agent/supervisor/runs/untold-steps.ts';

const NOW = 1_700_000_000_000;

/** Steps that were told, each with its time and how long ago it ended, ms. */
const toldOf = (
  steps: readonly (readonly [number, number, number?])[],
): UntoldSteps => {
  const untold = new UntoldSteps();
  for (const [iteration, wall, ago = 0] of steps) {
    untold.saw({ iteration, wall, at: NOW - ago - wall });
  }
  return untold;
};

test.each([
  ['before the first step', [], 0],
  ['of steps of 20 ms, a second ahead', [[40, 20]], 41 + 50],
  ['of one that has taken longer, the one in progress', [[3, 5000]], 4],
  [
    'after the furthest rank',
    [
      [40, 100],
      [39, 10],
      [12, 1],
    ],
    41 + 10,
  ],
  ['of ranks that are behind, as much later', [[7, 0.5, 3000]], 8 + 8000],
  ['of ranks whose clock is ahead, a second ahead', [[7, 10, -500]], 8 + 100],
  ['of steps that take no time, far away', [[7, 0]], 8 + 100_000],
] as const)('is %s', (_, told, first) => {
  expect(toldOf(told).first(NOW)).toBe(first);
});
