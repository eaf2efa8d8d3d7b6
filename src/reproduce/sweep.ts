/** The results of all runs of a figure, by case and seed. */
import type { CurvePoint, Measurement } from './figure.ts';

export interface MeasuredRun extends Measurement {
  /** The id of its case. */
  readonly case: string;
  readonly seed: number;
  /** Whether its training diverged: then its values are those of a network that guesses. */
  readonly diverged?: true | undefined;
}

export class Sweep {
  readonly runs: readonly MeasuredRun[];

  constructor(runs: readonly MeasuredRun[]) {
    this.runs = runs;
  }

  /** One value for each seed, in the order of the runs; undefined unless all have it. */
  observed(caseId: string, name: string): readonly number[] | undefined {
    const values = this.#of(caseId).map((run) => run.values[name]);
    return values.every((value) => value !== undefined) ? values : undefined;
  }

  /** Returns values that every run of the figure has. */
  values(caseId: string, name: string): readonly number[] {
    const values = this.observed(caseId, name);
    if (values === undefined) throw new Error(`internal: ${caseId} has no ${name}`);
    return values;
  }

  mean(caseId: string, name: string): number {
    return mean(this.values(caseId, name));
  }

  /** One curve for each seed, in the order of the runs; that of a run that diverged is empty. */
  curves(caseId: string): readonly (readonly CurvePoint[])[] {
    return this.#of(caseId).map(({ curve = [] }) => curve);
  }

  /** One curve of that name for each seed, in the order of the runs; that of a run without it is empty. */
  named(caseId: string, name: string): readonly (readonly CurvePoint[])[] {
    return this.#of(caseId).map(({ curves }) => curves?.[name] ?? []);
  }

  #of(caseId: string): readonly MeasuredRun[] {
    const runs = this.runs.filter((run) => run.case === caseId);
    if (runs.length === 0) throw new Error(`internal: no run of ${caseId}`);
    return runs;
  }
}

/** The mean of at least one value. */
export function mean(values: readonly number[]): number {
  if (values.length === 0) throw new Error('internal: the mean of nothing');
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean of ratios, of which each has as much weight as its reciprocal, as where they are judged. */
export const meanRatio = (values: readonly number[]): number =>
  Math.exp(mean(values.map(Math.log)));

/** Ratios of the values of the same seeds. */
export const ratios = (
  over: readonly number[],
  under: readonly number[],
): readonly number[] => over.map((value, index) => value / under[index]!);
