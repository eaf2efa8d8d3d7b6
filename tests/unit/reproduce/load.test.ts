/** Whether a computer can carry the measurement of times. */
import { expect, test } from 'vitest';
import { figures } from '../../../src/reproduce/figures/registry.ts';
import { obstacleToTimes } from '../../../src/reproduce/load.ts';
import { madeUpSweep, SOME_VALUES } from './made-up-sweep.ts';

test.each([
  [2, 2, [0, 0.05, 0.1], undefined],
  [8, 2, [0], 'busy: 8 ranks on 2 processors'],
  [2, 1, [0], 'busy: 2 ranks on 1 processor'],
  [2, 4, [0.01, 0.25, 0.02], 'busy: other work took 25.0 % of the processors'],
  [2, 4, [0.01, undefined], 'busy or not: what else ran on this computer is unknown'],
])('%d ranks on %d processors beside %j', (ranks, processors, others, obstacle) => {
  expect(obstacleToTimes(ranks, processors, others)).toBe(obstacle);
});

test.each(figures.map((figure) => [figure.id, figure] as const))(
  'times decide a part of %s exactly where it says so',
  (_, figure) => {
    const { parts } = figure.judge(madeUpSweep(figure, () => SOME_VALUES));
    const isTimed = parts.some((one) => one.kind !== 'check' && one.timed === true);
    expect(figure.timed === true).toBe(isTimed);
  },
);
