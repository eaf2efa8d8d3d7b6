/** Whether a computer can carry the measurement of times. */
import { describe, expect, test } from 'vitest';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { obstacleToTimes } from '../../../src/reproduce/load.ts';
import { resultOf } from '../../../src/reproduce/result.ts';
import { madeUpRuns, madeUpSweep, SOME_VALUES } from './made-up-sweep.ts';

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

describe('on machines that a user names', () => {
  const on = (id: string, nodes: readonly string[], others: number | undefined) => {
    const figure = findFigure(id);
    const made = madeUpRuns(figure, () => SOME_VALUES);
    const { differences, findings } = resultOf(
      figure,
      made.map((run) => ({ ...run, run: 'a-run', others })),
      {
        device: { processor: 'a processor', cores: 2, system: 'a system' },
        full: { of: id, nodes },
        gradwire: '0.0.0',
        measuredAt: 0,
        seconds: 1,
      },
    );
    return {
      obstacles: [...new Set(findings.map(({ obstacle }) => obstacle))],
      unwatched: differences.filter((one) => one.includes('was not measured')),
    };
  };
  const saying = (nodes: string) => [
    `What else ran meanwhile was not measured on ${nodes}: the times count as if it were nothing.`,
  ];
  const BUSY = 'busy: other work took 50.0 % of the processors';

  test.each<[string, string[], number | undefined, string | undefined, string[]]>([
    ['this computer alone', ['this-computer'], 0.5, BUSY, []],
    ['this computer, idle', ['this-computer'], 0.05, undefined, []],
    [
      'this computer, unknown',
      ['this-computer'],
      undefined,
      undefined,
      saying('this-computer'),
    ],
    ['this one and another', ['lab-1', 'this-computer'], 0.5, BUSY, saying('lab-1')],
    // What this computer does meanwhile delays no rank.
    ['others', ['lab-1', 'lab-2'], 0.5, undefined, saying('lab-1, lab-2')],
  ])(
    'times count unless they are known to be busy: %s',
    (_, nodes, others, obstacle, said) => {
      expect(on('sparcml-figure-3', nodes, others)).toEqual({
        obstacles: [obstacle],
        unwatched: said,
      });
    },
  );

  test('nothing is said where no time is judged', () => {
    expect(on('qsgd-table-1', ['lab-1'], undefined).unwatched).toEqual([]);
  });
});
