/**
 * Where records of workers enter a run: each must fit its schema, be of the rank that sends
 * it, and iterations must follow one another. What is admitted the journal may keep and
 * every store can take; what is not ends the run before anybody is told of it.
 */
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../shared/errors.ts';
import { parseRecord } from '../../shared/parse-record.ts';
import type { RunRecord } from '../../shared/records.ts';

export class RecordAdmission {
  /** The iteration that each rank records next. */
  readonly #next = new Map<number, number>();

  /** The iteration that a rank has under way, as far as it has been heard. */
  underWay(rank: number): number | undefined {
    return this.#next.get(rank);
  }

  /** @throws GradwireError `RECORD_INVALID`, which names the rank that sends it */
  admit(rank: number, raw: unknown): RunRecord {
    try {
      return this.#check(rank, raw);
    } catch (error) {
      throw refusal(rank, error);
    }
  }

  #check(rank: number, raw: unknown): RunRecord {
    const record = parseRecord(raw);
    if ('rank' in record && record.rank !== undefined && record.rank !== rank) {
      throw invalid(`${record.type} record: rank is ${record.rank}, not ${rank}`);
    }
    if (record.type !== 'iteration') return record;
    const next = this.#next.get(rank) ?? 0;
    if (record.iteration !== next) {
      throw invalid(`iteration record: iteration is ${record.iteration}, not ${next}`);
    }
    this.#next.set(rank, next + 1);
    return record;
  }
}

/** The error with which a rank says that it failed: that error, or what is wrong with it. */
export function admitError(rank: number, raw: unknown): ErrorData {
  try {
    const record = parseRecord({ type: 'failed', at: 0, error: raw });
    if (record.type === 'failed') return { rank, ...record.error };
    throw new Error(`internal: a failed record became ${record.type}`);
  } catch (error) {
    return refusal(rank, error).toData();
  }
}

function invalid(message: string): GradwireError {
  return failure('RECORD_INVALID', message, {
    next: 'Launch the run again; if it happens again, report it.',
  });
}

function refusal(rank: number, error: unknown): GradwireError {
  return new GradwireError({ ...toErrorData(error), rank, place: `rank ${rank}` });
}
