/**
 * Checks records of workers as they enter a run: each must fit its schema and belong to the
 * rank that sends it, and iterations must be consecutive. The journal may keep admitted
 * records, and every store can accept them; a record that is not admitted ends the run
 * before it is passed on.
 *
 * A run that resumes from a checkpoint repeats the iterations after it. The first record of
 * an iteration stays: every rank has one record of it.
 */
import {
  failure,
  GradwireError,
  toErrorData,
  type ErrorData,
} from '../../../shared/errors/errors.ts';
import {
  kindOf,
  parseRecord,
  type RunRecord,
} from '../../../shared/records/record-kinds.ts';
import { isNoRanks } from '../../../shared/errors/root-cause.ts';
import { AGAIN } from '../../../shared/errors/report-advice.ts';

export class RecordAdmission {
  /** The first iteration of each rank that is not recorded. */
  readonly #unrecorded = new Map<number, number>();
  /** The iteration that each rank must report next. */
  readonly #next = new Map<number, number>();
  /** The iteration at which the current ranks began. */
  #from = 0;
  /** The first iteration of each rank that is not a repetition. */
  #repeatsUpTo: ReadonlyMap<number, number> = new Map();
  /** The iteration of the last record, for each kind that has one record per iteration. */
  readonly #told = new Map<RunRecord['type'], number>();
  /** The iterations of last records when the current ranks started. */
  #toldBefore: ReadonlyMap<RunRecord['type'], number> = new Map();
  /** Records that are recognised by name. */
  readonly #names = new Set<string>();
  #namesBefore: ReadonlySet<string> = new Set();

  /** The ranks resume from this iteration. */
  restart(iteration: number): void {
    this.#from = iteration;
    this.#repeatsUpTo = new Map(this.#unrecorded);
    this.#next.clear();
    this.#toldBefore = new Map(this.#told);
    this.#namesBefore = new Set(this.#names);
  }

  /** The first iteration not recorded for all of these ranks. */
  recordedUpTo(ranks: readonly number[]): number {
    return Math.min(...ranks.map((rank) => this.#unrecorded.get(rank) ?? 0));
  }

  /** A rank's current iteration, as far as reported. */
  underWay(rank: number): number | undefined {
    return this.#next.get(rank);
  }

  /** Notes a record that a journal already has. */
  recall(record: RunRecord): void {
    if (record.type === 'iteration') {
      this.#unrecorded.set(record.rank, record.iteration + 1);
    } else this.#tell(record);
  }

  /**
   * @returns the record; undefined if it is a repetition
   * @throws GradwireError `RECORD_INVALID`, naming the rank that sent it
   */
  admit(rank: number, raw: unknown): RunRecord | undefined {
    try {
      const record = this.#check(rank, raw);
      return this.#isRepeated(rank, record) ? undefined : record;
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
    const next = this.#nextOf(rank);
    if (record.iteration !== next) {
      throw invalid(`iteration record: iteration is ${record.iteration}, not ${next}`);
    }
    this.#next.set(rank, next + 1);
    return record;
  }

  #isRepeated(rank: number, record: RunRecord): boolean {
    const unrecorded = this.#unrecorded.get(rank) ?? 0;
    if (record.type === 'iteration') {
      if (record.iteration < unrecorded) return true;
      this.#unrecorded.set(rank, record.iteration + 1);
      return false;
    }
    const isTold = this.#tell(record);
    const { repetition } = kindOf(record);
    if (!isTold || repetition.by !== 'name' || !repetition.untilNew) return isTold;
    // After the repeated iterations the same record may be new.
    return this.#nextOf(rank) <= (this.#repeatsUpTo.get(rank) ?? 0);
  }

  /** @returns whether it was reported before the current ranks started */
  #tell(record: RunRecord): boolean {
    const { repetition } = kindOf(record);
    switch (repetition.by) {
      case 'never':
      case 'rank and iteration':
        return false;
      case 'iteration': {
        const { type, iteration } = record as Extract<RunRecord, { iteration: number }>;
        this.#told.set(type, Math.max(this.#told.get(type) ?? -1, iteration));
        return iteration <= (this.#toldBefore.get(type) ?? -1);
      }
      case 'name':
        return this.#name(repetition.name(record));
      default:
        return repetition satisfies never;
    }
  }

  #name(name: string): boolean {
    this.#names.add(name);
    return this.#namesBefore.has(name);
  }

  #nextOf(rank: number): number {
    return this.#next.get(rank) ?? this.#from;
  }
}

/** The error in a rank's report of failure; if that is invalid, an error that says so. */
export function admitError(rank: number, raw: unknown): ErrorData {
  try {
    const record = parseRecord({ type: 'failed', at: 0, error: raw });
    if (record.type === 'failed' && isNoRanks(record.error)) return record.error;
    if (record.type === 'failed') return { rank, ...record.error };
    throw new Error(`internal: a failed record became ${record.type}`);
  } catch (error) {
    return refusal(rank, error).toData();
  }
}

function invalid(message: string): GradwireError {
  return failure('RECORD_INVALID', message, {
    next: AGAIN,
  });
}

function refusal(rank: number, error: unknown): GradwireError {
  return new GradwireError({ ...toErrorData(error), rank, place: `rank ${rank}` });
}
