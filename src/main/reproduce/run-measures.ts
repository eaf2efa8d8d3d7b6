/** What figures take from the records of a run. */
import { failure } from '../../shared/errors.ts';
import type {
  EvaluationRecord,
  SimilarityRecord,
} from '../../shared/measure-records.ts';
import type { Phase } from '../../shared/phases.ts';
import type { DoneRecord, IterationRecord, RunRecord } from '../../shared/records.ts';
import { mean } from './sweep.ts';

export const iterationsOf = (
  records: readonly RunRecord[],
): readonly IterationRecord[] =>
  records.filter((record) => record.type === 'iteration');

/** Rank 0's from an iteration on, in their order. */
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

/**
 * Milliseconds that each iteration from one on took in some phases, of the rank on which they
 * took least: the one that arrived last, which waited for nobody.
 * @throws GradwireError `MEASURE_MISSING`
 */
export function leastTimes(
  records: readonly RunRecord[],
  from: number,
  phases: readonly Phase[],
): readonly number[] {
  const least = new Map<number, number>();
  for (const { iteration, phases: times } of iterationsOf(records)) {
    if (iteration < from) continue;
    const time = phases.reduce((sum, phase) => sum + (times[phase] ?? 0), 0);
    least.set(iteration, Math.min(time, least.get(iteration) ?? Infinity));
  }
  if (least.size === 0) throw missing(`iterations from ${from}`);
  return [...least.values()];
}

/**
 * Means over ranks of what each of the iterations from one to before another has, in their order.
 * @throws GradwireError `MEASURE_MISSING` where a rank has no such value, or there is no iteration
 */
export function rankMeans(
  records: readonly RunRecord[],
  { from, to = Infinity }: { readonly from: number; readonly to?: number },
  value: (record: IterationRecord) => number | undefined,
  what: string,
): readonly number[] {
  const found = new Map<number, number[]>();
  for (const record of iterationsOf(records)) {
    const { iteration } = record;
    if (iteration < from || iteration >= to) continue;
    const values = found.get(iteration) ?? [];
    values.push(required(value(record), what));
    found.set(iteration, values);
  }
  if (found.size === 0) throw missing(`iterations from ${from}`);
  return [...found].sort(([a], [b]) => a - b).map(([, values]) => mean(values));
}

export const evaluationsOf = (
  records: readonly RunRecord[],
): readonly EvaluationRecord[] =>
  records.filter((record) => record.type === 'evaluation');

export const similaritiesOf = (
  records: readonly RunRecord[],
): readonly SimilarityRecord[] =>
  records.filter((record) => record.type === 'similarity');

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
