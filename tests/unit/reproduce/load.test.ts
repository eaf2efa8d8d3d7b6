/** Whether a computer can carry the measurement of times. */
import { expect, test } from 'vitest';
import { obstacleToTimes } from '../../../src/reproduce/load.ts';

test.each([
  [2, 2, [0, 0.05, 0.1], undefined],
  [8, 2, [0], 'busy: 8 ranks on 2 processors'],
  [2, 1, [0], 'busy: 2 ranks on 1 processor'],
  [2, 4, [0.01, 0.25, 0.02], 'busy: other work took 25.0 % of the processors'],
  [2, 4, [0.01, undefined], 'busy or not: what else ran on this computer is unknown'],
])('%d ranks on %d processors beside %j', (ranks, processors, others, obstacle) => {
  expect(obstacleToTimes(ranks, processors, others)).toBe(obstacle);
});
