/** The values that figures take from the records of a run. */
import { failure } from '../shared/errors/errors.ts';
import type { Phase } from '../shared/records/phases.ts';
import type { BucketsRecord } from '../shared/records/buckets.ts';
import type { DoneRecord } from '../shared/records/done.ts';
import type { EvaluationRecord } from '../shared/records/evaluation.ts';
import type { IterationRecord } from '../shared/records/iteration.ts';
import type { RunRecord } from '../shared/records/record-kinds.ts';
import type { SimilarityRecord } from '../shared/records/similarity.ts';
import { median } from '../shared/numbers/quantile.ts';
import type { CurvePoint } from './figure.ts';
import { mean } from './sweep.ts';

type ThresholdRecord = NonNullable<
  BucketsRecord['buckets'][number]['thresholds']
>[number];

export const iterationsOf = (
  records: readonly RunRecord[],
): readonly IterationRecord[] =>
  records.filter((record) => record.type === 'iteration');

/** Rank 0's records from an iteration on, in order. */
export function settled(
  records: readonly RunRecord[],
  from: number,
): readonly IterationRecord[] {
  const found = iterationsOf(records).filter(
    ({ rank, iteration }) => rank === 0 && iteration >= from,
  );
  if (found.length === 0) throw missing(`iterations from ${from}`);
  return found;
}

/** Phases of a reduction. */
const REDUCTION_PHASES: readonly Phase[] = ['send', 'receive', 'wait', 'reduce'];

/**
 * Milliseconds that an iteration, from a given one on, takes beyond the longest that a rank spends outside
 * some phases: the mean of the ranks' walls less that. No single rank tells how long an exchange takes: what
 * the last one to arrive sends, its network card carries while it computes again, and the others wait for it
 * as well. Whoever ends an iteration late makes up for it in the next, so that the mean has neither, without
 * a common clock.
 *
 * It is a lower bound: what is carried beneath the computing of a rank that is always late costs nothing. But
 * it is no less than what the rank spent in the phases that spent least there, which is positive.
 * @param phases default: those of a reduction
 * @param over the value of all iterations together; default: the median
 * @throws GradwireError `MEASURE_MISSING`
 */
export function exchangeTime(
  records: readonly RunRecord[],
  from: number,
  phases: readonly Phase[] = REDUCTION_PHASES,
  over: (times: readonly number[]) => number | undefined = median,
): number {
  const byIteration = iterationsIn(records, { from });
  const beyond = byIteration.map((ranks) => {
    const own = ranks.map((record) => record.wall - timeOf(record, phases));
    return mean(ranks.map(({ wall }) => wall)) - Math.max(...own);
  });
  const least = byIteration.map((ranks) =>
    Math.min(...ranks.map((record) => timeOf(record, phases))),
  );
  const what = `iterations from ${from}`;
  return Math.max(required(over(beyond), what), required(over(least), what));
}

/**
 * Milliseconds that an iteration takes on average over the ranks, which may end it at different moments.
 * @param over the value of all iterations together; default: the median
 * @throws GradwireError `MEASURE_MISSING`
 */
export const meanIterationTime = (
  records: readonly RunRecord[],
  from: number,
  over: (times: readonly number[]) => number | undefined = median,
): number =>
  required(
    over(rankMeans(records, { from }, ({ wall }) => wall, 'time')),
    `iterations from ${from}`,
  );

/**
 * A value of each iteration in a range (end excluded), averaged over ranks, in order.
 * @throws GradwireError `MEASURE_MISSING` if a rank has no such value, or the range has no
 * iteration
 */
export const rankMeans = (
  records: readonly RunRecord[],
  range: Range,
  value: (record: IterationRecord) => number | undefined,
  what: string,
): readonly number[] =>
  iterationsIn(records, range).map((ranks) =>
    mean(ranks.map((record) => required(value(record), what))),
  );

interface Range {
  readonly from: number;
  readonly to?: number;
}

/** The ranks' records of each iteration in a range, in order. */
function iterationsIn(
  records: readonly RunRecord[],
  { from, to = Infinity }: Range,
): readonly (readonly IterationRecord[])[] {
  const found = new Map<number, IterationRecord[]>();
  for (const record of iterationsOf(records)) {
    const { iteration } = record;
    if (iteration < from || iteration >= to) continue;
    const ranks = found.get(iteration);
    if (ranks === undefined) found.set(iteration, [record]);
    else ranks.push(record);
  }
  if (found.size === 0) throw missing(`iterations from ${from}`);
  return [...found].sort(([a], [b]) => a - b).map(([, ranks]) => ranks);
}

export const evaluationsOf = (
  records: readonly RunRecord[],
): readonly EvaluationRecord[] =>
  records.filter((record) => record.type === 'evaluation');

/**
 * The metric on the test set by the number of iterations: that of the average weights where replicas
 * differ.
 */
export const metricCurve = (records: readonly RunRecord[]): readonly CurvePoint[] =>
  evaluationsOf(records).flatMap(({ iteration, metric, averaged }) => {
    const y = averaged?.metric ?? metric;
    return y === undefined ? [] : [{ x: iteration + 1, y }];
  });

/** The metric on the test set by the number of iterations: of each replica on its share of the set, where they differ. */
export const replicaCurve = (records: readonly RunRecord[]): readonly CurvePoint[] =>
  evaluationsOf(records).flatMap(({ iteration, metric }) =>
    metric === undefined ? [] : [{ x: iteration + 1, y: metric }],
  );

/**
 * The distance of what was applied from what uncompressed ranks would apply, relative to that, in each
 * iteration that was compared.
 * @throws GradwireError `MEASURE_MISSING` if nothing was compared, or with gradients of 0 alone
 */
export function compressionErrors(records: readonly RunRecord[]): readonly number[] {
  const errors = records
    .filter((record) => record.type === 'comparison')
    .map(({ error }) => required(error, 'error of compression'));
  if (errors.length === 0) throw missing('error of compression');
  return errors;
}

/**
 * One measure of the ranks' similarity over the iterations, for every bucket that has
 * it.
 */
export function similarityCurve(
  records: readonly RunRecord[],
  measure: Exclude<keyof SimilarityRecord['buckets'][number], 'tensors'>,
): readonly CurvePoint[] {
  return records
    .filter((record) => record.type === 'similarity')
    .flatMap(({ buckets, iteration }) =>
      buckets.flatMap(({ [measure]: y }) =>
        y === undefined ? [] : [{ x: iteration, y }],
      ),
    );
}

/**
 * A tensor's thresholds that are kept between iterations, in the order in which they were
 * recorded.
 */
export const thresholdsOf = (
  records: readonly RunRecord[],
  tensor: string,
): readonly (ThresholdRecord & { readonly iteration: number })[] =>
  records
    .filter((record) => record.type === 'buckets')
    .flatMap(({ buckets, iteration }) =>
      buckets
        .flatMap(({ thresholds = [] }) => thresholds)
        .filter((one) => one.tensor === tensor)
        .map((one) => ({ ...one, iteration })),
    );

/**
 * The mean of a curve over the iterations from ≤ x < to.
 * @throws GradwireError `MEASURE_MISSING`
 */
export function meanOver(
  curve: readonly CurvePoint[],
  from: number,
  to: number,
  what: string,
): number {
  const values = curve.filter(({ x }) => x >= from && x < to).map(({ y }) => y);
  if (values.length === 0) throw missing(`${what} in iterations ${from} to ${to - 1}`);
  return mean(values);
}

/**
 * The shortest time of the phases over the iterations, in milliseconds. It is the undisturbed
 * time, since disturbances only add.
 * @throws GradwireError `MEASURE_MISSING`
 */
export function leastTime(
  iterations: readonly IterationRecord[],
  phases: readonly Phase[],
): number {
  if (iterations.length === 0) throw missing('iterations to take times of');
  // Not as arguments of Math.min: a long run has more than a call can take.
  return iterations.reduce(
    (least, iteration) => Math.min(least, timeOf(iteration, phases)),
    Infinity,
  );
}

/** Time that an iteration spent in these phases, in milliseconds. */
const timeOf = (iteration: IterationRecord, phases: readonly Phase[]): number =>
  phases.reduce((sum, phase) => sum + (iteration.phases[phase] ?? 0), 0);

/** @throws GradwireError `MEASURE_MISSING` */
export function doneOf(records: readonly RunRecord[]): DoneRecord {
  const done = records.find((record) => record.type === 'done');
  if (done === undefined) throw missing('the record of its end');
  return done;
}

/** @throws GradwireError `MEASURE_MISSING` */
export function required(value: number | undefined, what: string): number {
  if (value === undefined) throw missing(what);
  return value;
}

const missing = (what: string): Error =>
  failure('MEASURE_MISSING', `the run has no ${what}`, {
    next: 'See its notices: gradwire runs log last.',
  });
