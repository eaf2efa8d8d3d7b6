/** What figures take from the records of a run. */
import { failure } from '../../shared/errors.ts';
import type {
  EvaluationRecord,
  SimilarityRecord,
} from '../../shared/measure-records.ts';
import type { DoneRecord, IterationRecord, RunRecord } from '../../shared/records.ts';

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
