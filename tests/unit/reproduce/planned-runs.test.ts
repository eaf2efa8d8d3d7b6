/** Runs of figures that PyTorch computes, if a Python that has it is named. */
import { expect, test } from 'vitest';
import { checkedLaunch } from '../../harness/checked-launch.ts';
import { figures, findFigure } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';

const PYTHON = '/opt/venv/bin/python';

const backends = (id: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    plannedRuns(findFigure(id), PYTHON).map(({ case: one, spec }) => [
      one.id,
      spec.backend,
    ]),
  );

test.each(figures.map((figure) => [figure.id, figure] as const))(
  '%s has the same runs, and those by PyTorch can be launched',
  (_, figure) => {
    const alone = plannedRuns(figure);
    const planned = plannedRuns(figure, PYTHON);
    expect(
      planned.map(({ spec: { backend: _backend, python: _python, ...spec } }) => spec),
    ).toEqual(alone.map(({ spec: { backend: _backend, ...spec } }) => spec));
    for (const { spec } of planned) {
      if (spec.backend === 'torch') {
        expect(spec.python).toBe(PYTHON);
        expect(() => checkedLaunch(spec)).not.toThrow();
      } else {
        expect(spec.python).toBeUndefined();
      }
    }
  },
);

test.each([
  ['computes what takes long', 'scalecom-table-2-resnet', 'resnet-none', 'torch'],
  [
    'leaves the model that takes as long either way',
    'sparcml-figure-4',
    'classifier-k8',
    'auto',
  ],
  ['computes others of the same figure', 'sparcml-figure-4', 'lstm-k2', 'torch'],
  ['leaves gradients that are drawn', 'qsgd-section-3', 's16', 'auto'],
  ['computes models that are split', 'dct-table-4', 'baseline', 'torch'],
  ['leaves times', 'dct-figure-7', 'baseline', 'auto'],
])('PyTorch %s', (_, figure, id, backend) => {
  expect(backends(figure)).toHaveProperty([id], backend);
});
