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
