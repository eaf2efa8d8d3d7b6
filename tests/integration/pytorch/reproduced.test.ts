/** Runs of a figure that PyTorch computes, and what their results say of it. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { FigureInterruption } from '../../../src/cli/session/figure-interruption.ts';
import { runFigure } from '../../../src/cli/session/figure-runs.ts';
import { withWorkspace } from '../../../src/cli/session/workspace.ts';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { findFigure } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { doneOf, required } from '../../../src/reproduce/run-measures.ts';
import { GradwireHome } from '../../harness/gradwire.ts';
import { pytorch } from '../../harness/python.ts';

const home = new GradwireHome();
beforeAll(() => {
  vi.stubEnv('GRADWIRE_HOME', home.directory);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await home[Symbol.asyncDispose]();
});

const caseOf = (model: string, dataset: string) => ({
  id: model,
  label: model,
  spec: {
    workload: { model, dataset, batchPerRank: 2 },
    world: { ranks: 1 },
    exchange: { method: 'none' },
    iterations: 2,
    evaluateEvery: 0,
  },
});
const figure: Figure = {
  ...findFigure('sparcml-figure-4'),
  seeds: [1],
  cases: [caseOf('fnn3', 'digits'), caseOf('dlrm-small', 'clicks')],
  // It keeps no record that tells the backend.
  keeps: ({ type }) => type === 'done',
  measure: (records) => ({
    values: { loss: required(doneOf(records).loss, 'loss at its end') },
  }),
};

describe.skipIf(pytorch === undefined)('with a Python that has PyTorch', () => {
  test('what gains by it is computed by it, and each run tells its backend', async () => {
    using interruption = new FigureInterruption();
    const runs = plannedRuns(figure, pytorch);
    const end = await withWorkspace((workspace) =>
      runFigure(workspace, figure, runs, {
        atOnce: 1,
        interruption,
        progress: () => true,
        timesCount: false,
      }),
    );
    const made = 'runs' in end ? end.runs : [];
    expect(made.map(({ backend }) => backend)).toEqual([
      expect.stringMatching(/^wasm/),
      expect.stringMatching(/^torch \(.*PyTorch \d/),
    ]);
    // The time of PyTorch's own processes would count as other work.
    expect(made.map(({ others }) => typeof others)).toEqual(['number', 'undefined']);
  });
});
