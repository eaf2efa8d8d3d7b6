/** Runs of a figure whose training diverges: they count as a network that guesses, or end the figure. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FigureInterruption } from '../../../src/cli/session/figure-interruption.ts';
import { runFigure } from '../../../src/cli/session/figure-runs.ts';
import { withWorkspace } from '../../../src/cli/session/workspace.ts';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { findFigure } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { isLoss } from '../../../src/reproduce/figures/dct-losses.ts';
import {
  doneOf,
  evaluationsOf,
  required,
} from '../../../src/reproduce/run-measures.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
beforeAll(() => {
  vi.stubEnv('GRADWIRE_HOME', home.directory);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await home[Symbol.asyncDispose]();
});

const { guess, ...rest } = findFigure('qsgd-table-1');
const caseOf = (id: string, lr: number) => ({
  id,
  label: id,
  spec: {
    workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 4 },
    world: { ranks: 1 },
    optimizer: { kind: 'sgd', lr, momentum: 0 },
    exchange: { method: 'none' },
    iterations: 30,
    evaluateEvery: 0,
  },
});
const figure: Figure = {
  ...rest,
  seeds: [1],
  cases: [caseOf('too-fast', 1e12), caseOf('usual', 0.05)],
  // As most figures, it does not read notices.
  keeps: ({ type }) => type === 'done',
  measure: (records) => ({
    values: { accuracy: required(doneOf(records).metric, 'accuracy at its end') },
  }),
};

const made = async (of: Figure) => {
  using interruption = new FigureInterruption();
  return await withWorkspace((workspace) =>
    runFigure(workspace, of, plannedRuns(of), {
      atOnce: 1,
      interruption,
      progress: () => true,
      timesCount: false,
    }),
  );
};

test('a run that diverges counts as a network that guesses, and the others are made', async () => {
  const end = await made({ ...figure, guess: guess! });
  const runs = 'runs' in end ? end.runs : [];
  expect(runs).toHaveLength(2);
  expect(runs[0]).toMatchObject({
    case: 'too-fast',
    diverged: true,
    values: { accuracy: 0.1 },
  });
  expect(runs[1]).not.toHaveProperty('diverged');
  expect(runs[1]!.values['accuracy']).toBeGreaterThan(0.1);
});

test('a run whose last step diverges has no loss at its end, and counts as one that guesses', async () => {
  const [fast] = figure.cases;
  const end = await made({
    ...figure,
    cases: [
      {
        ...fast!,
        spec: {
          ...fast!.spec,
          optimizer: { kind: 'sgd', lr: 1e38, momentum: 0 },
          iterations: 1,
        },
      },
    ],
    keeps: isLoss,
    measure: (records) => ({
      values: { loss: required(evaluationsOf(records).at(-1)?.loss, 'loss') },
    }),
    guess: () => ({ loss: 2.3 }),
  });
  expect('runs' in end ? end.runs : end).toEqual([
    expect.objectContaining({ diverged: true, values: { loss: 2.3 } }),
  ]);
});

test('without such a value it ends the figure by its own error', async () => {
  await expect(made(figure)).rejects.toMatchObject({
    code: expect.stringMatching(/_NOT_FINITE$/),
    place: expect.stringContaining('too-fast, seed 1'),
  });
});
