/** Runs of a figure side by side: they end in any order, and one that fails ends the others. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { FigureInterruption } from '../../../src/cli/session/figure-interruption.ts';
import { runFigure, type FigureWays } from '../../../src/cli/session/figure-runs.ts';
import { withWorkspace } from '../../../src/cli/session/workspace.ts';
import { KeptRuns } from '../../../src/main/figures/kept-runs.ts';
import { thisComputer } from '../../../src/main/figures/this-computer.ts';
import type { Figure } from '../../../src/reproduce/figure.ts';
import { findFigure } from '../../../src/reproduce/figures/registry.ts';
import { plannedRuns } from '../../../src/reproduce/planned-runs.ts';
import { doneOf, required } from '../../../src/reproduce/run-measures.ts';
import { GradwireHome } from '../../harness/gradwire.ts';

const home = new GradwireHome();
beforeAll(() => {
  vi.stubEnv('GRADWIRE_HOME', home.directory);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await home[Symbol.asyncDispose]();
});

const named = findFigure('scalecom-figure-1');
const figureOf = (...cases: Figure['cases']): Figure => ({
  ...named,
  seeds: [1],
  cases,
  keeps: ({ type }) => type === 'done',
  measure: (records) => ({
    values: { loss: required(doneOf(records).loss, 'loss at its end') },
  }),
});
const caseOf = (
  id: string,
  iterations: number,
  lr = 0.05,
): Figure['cases'][number] => ({
  id,
  label: id,
  spec: {
    workload: { model: 'fnn3', dataset: 'digits', batchPerRank: 4 },
    world: { ranks: 2 },
    optimizer: { kind: 'sgd', lr, momentum: 0 },
    exchange: { method: 'qsgd', bits: 4 },
    iterations,
    evaluateEvery: 0,
  },
});
const ENDLESS = 10_000_000;

interface Made {
  readonly end: Awaited<ReturnType<typeof runFigure>> | { readonly thrown: unknown };
  /** Cases in the order in which their runs ended. */
  readonly ended: readonly string[];
  /** States of all runs by case. */
  readonly states: Readonly<Record<string, string>>;
}

async function make(
  figure: Figure,
  ways: Pick<FigureWays, 'atOnce'> & Partial<FigureWays>,
): Promise<Made> {
  using interruption = new FigureInterruption();
  const ended: string[] = [];
  return await withWorkspace(async (workspace) => {
    const before = new Set(workspace.store.runs.list().map(({ id }) => id));
    const end = await runFigure(workspace, figure, plannedRuns(figure), {
      interruption,
      timesCount: false,
      progress: ({ planned }) => {
        ended.push(planned.case.id);
        return true;
      },
      ...ways,
    }).catch((thrown: unknown) => ({ thrown }));
    const runs = workspace.store.runs.list().filter(({ id }) => !before.has(id));
    const states = runs.map(({ name, state }) => [
      /: ([^,]+), seed/.exec(name)![1]!,
      state,
    ]);
    return { end, ended, states: Object.fromEntries(states) as Made['states'] };
  });
}

test('they have the values of runs one after another, in the same order, and are kept', async () => {
  const figure = figureOf(caseOf('long', 600), caseOf('short', 2));
  const alone = await make(figure, { atOnce: 1 });
  expect(alone.ended).toEqual(['long', 'short']);
  const planned = plannedRuns(figure);
  const device = thisComputer();
  const open = (resume: boolean): Promise<KeptRuns> =>
    KeptRuns.open(home.directory, 'figure', { planned, device, resume });
  const beside = await make(figure, { atOnce: 2, kept: await open(false) });
  expect(beside.ended).toEqual(['short', 'long']);
  const values = ({ end }: Made) =>
    'runs' in end ? end.runs.map((run) => [run.case, run.values]) : end;
  expect(values(beside)).toEqual(values(alone));
  // What was made is taken up whole, and nothing is made again.
  const again = await make(figure, { atOnce: 2, kept: await open(true) });
  expect(again.states).toEqual({});
  expect(values(again)).toEqual(values(alone));
});

test('one that fails stops the others, begins no more, and its error is the figure’s', async () => {
  const figure = figureOf(
    caseOf('endless', ENDLESS),
    caseOf('too-fast', 30, 1e12),
    caseOf('never', 2),
  );
  const { end, states } = await make(figure, { atOnce: 2 });
  expect(end).toMatchObject({
    thrown: {
      code: expect.stringMatching(/_NOT_FINITE$/),
      place: expect.stringContaining('too-fast, seed 1'),
    },
  });
  expect(states).toEqual({ endless: 'stopped', 'too-fast': 'failed' });
});

test('what is given up after a run stops those beside it', async () => {
  const figure = figureOf(
    caseOf('short', 2),
    caseOf('endless', ENDLESS),
    caseOf('never', 2),
  );
  const { end, states } = await make(figure, { atOnce: 2, progress: () => false });
  expect(end).toEqual({ givenUpAfter: 1 });
  expect(states).toEqual({ short: 'completed', endless: 'stopped' });
});
