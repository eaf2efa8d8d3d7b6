/**
 * The measure on the test set around a switch. A faster step says nothing of what the model learns
 * with it, so both stand together.
 */
import {
  describeMetric,
  formatMetric,
  NO_METRIC,
  type MetricKind,
} from '../records/metric.ts';
import type { EvaluationRecord } from '../records/evaluation.ts';
import type { RunEvent } from '../records/record-kinds.ts';

/** The last evaluation before a fence, and the first after it; metrics of the averaged model, if replicas drift. */
export interface MeasureAround {
  readonly before: number;
  readonly after: number;
  /** Iteration of the second. */
  readonly iteration: number;
}

/**
 * @param fence the first iteration under the plan
 * @param until the fence of the next switch, if there is one
 * @returns undefined until it has been evaluated on both sides
 */
export function measureAround(
  events: readonly RunEvent[],
  fence: number,
  until = Infinity,
): MeasureAround | undefined {
  const evaluations = events.filter((event) => event.type === 'evaluation');
  const before = evaluations.findLast(({ iteration }) => iteration < fence);
  const after = evaluations.find(
    ({ iteration }) => iteration >= fence && iteration < until,
  );
  if (before === undefined || after === undefined) return undefined;
  const [first, second] = [metricOf(before), metricOf(after)];
  if (first === undefined || second === undefined) return undefined;
  return { before: first, after: second, iteration: after.iteration };
}

const metricOf = ({ averaged, metric }: EvaluationRecord): number | undefined =>
  averaged === undefined ? metric : averaged.metric;

/** `accuracy 96.9 % on the test set before, 90.0 % after iteration 799`; empty for a run that trains nothing. */
export const describeMeasure = (
  { after, before, iteration }: MeasureAround,
  kind: MetricKind,
): string =>
  kind.id === NO_METRIC.id
    ? ''
    : `${describeMetric(before, kind)} on the test set before, ${formatMetric(after, kind)} after iteration ${iteration}`;
