/** Evaluations on the test set in a chart's sentence. */
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import { formatCount } from '../../shared/words/units.ts';
import type { AxisRange } from './axis-range.ts';

interface EvaluationLook {
  /** The range that is shown, in iterations. */
  readonly axis: AxisRange;
  readonly field: 'loss' | 'metric';
  readonly format: (value: number | undefined) => string;
}

/** Whether an iteration is in the range that is shown. */
export const isWithin = (iteration: number, { max, min }: AxisRange): boolean =>
  iteration >= min && iteration <= max;

/**
 * The last evaluation that is shown, or else the last one before.
 * @param evaluations of the run, oldest first
 */
export function evaluationWords(
  evaluations: readonly EvaluationRecord[],
  { axis, field, format }: EvaluationLook,
): string {
  if (evaluations.length === 0) return 'not evaluated yet';
  const last = evaluations.findLast(({ iteration }) => iteration <= axis.max);
  if (last === undefined) return 'not evaluated in what is shown';
  const { averaged, iteration } = last;
  const value =
    averaged === undefined
      ? format(last[field])
      : `${format(last[field])} by the replicas, ${format(averaged[field])} by the averaged model`;
  const number = formatCount(iteration);
  return isWithin(iteration, axis)
    ? `test set ${value} after iteration ${number}`
    : `test set ${value} after iteration ${number} (before what is shown)`;
}
