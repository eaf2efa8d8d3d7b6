/** Results that no run gave, for judges and pages. */
import type { Figure } from '../../../src/reproduce/figure.ts';
import { Sweep, type MeasuredRun } from '../../../src/reproduce/sweep.ts';

type Values = Readonly<Record<string, number>>;

/** @param values of a case and the index of its seed */
export function madeUpRuns(
  figure: Figure,
  values: (caseId: string, seed: number) => Values,
): readonly MeasuredRun[] {
  return figure.cases.flatMap(({ id }) =>
    figure.seeds.map((seed, index) => ({ case: id, seed, values: values(id, index) })),
  );
}

export const madeUpSweep = (
  figure: Figure,
  values: (caseId: string, seed: number) => Values,
): Sweep => new Sweep(madeUpRuns(figure, values));

/** What every figure's runs have some of. */
export const SOME_VALUES = {
  dense: 0,
  density: 0.01,
  time: 5,
  decompress: 2,
  exchange: 3,
  accuracy: 0.9,
  training: 0.95,
  loss: 0.4,
  auc: 0.8,
  perplexity: 1.5,
  bits: 64,
  error: 0.5,
  least: 64,
  most: 64,
  received: 1000,
  distance: 0.7,
  ...{
    entries: 7.9,
    metric: 0.9,
    replicas: 0.9,
    iteration: 50,
    communication: 20,
    share: 0.4,
    pass: 450,
  },
  threshold: 0.1,
  strays: 0.2,
  renewed: 0.01,
  early: 0.8,
  late: 0.6,
  within: 0.7,
  positive: 0.5,
  overlap: 0.5,
  same: 0.1,
  'test-loss': 0.5,
  'test-metric': 0.8,
  'start-75': 1,
  'start-90': 2,
  'start-95': 3,
  'end-75': 0.9,
  'end-90': 1.8,
  'end-95': 2.5,
};
