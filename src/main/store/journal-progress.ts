/**
 * Tracks how far a journal is stored, entry by entry: counts omitted records until the
 * journal describes them, and each rank's progress.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import {
  leftOutBefore,
  type JournalEnding,
  type JournalEntry,
  type JournalThinning,
} from '../../shared/records/journal-entry.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import { AGAIN } from '../../shared/errors/report-advice.ts';
import type { JournalRow } from './run-row.ts';

export class JournalProgress {
  readonly #row: { -readonly [K in keyof JournalRow]: JournalRow[K] };
  /** Iterations done, by rank: the newest one's number plus 1. */
  readonly ranks = new Map<number, number>();
  readonly #arrivedAt: number;
  #hasEnded = false;

  /** @param arrivedAt when the entries arrived, by this computer's clock */
  constructor(row: JournalRow, arrivedAt = Date.now()) {
    this.#row = { ...row };
    this.#arrivedAt = arrivedAt;
  }

  get row(): JournalRow {
    return this.#row;
  }

  /** Whether its last record has been stored. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Handles the next entry.
   * @returns the journal's description of missing records, to be stored before the
   * entry
   * @throws GradwireError `RECORDS_MISSING`
   */
  advance(entry: JournalEntry): unknown {
    const row = this.#row;
    const missed = leftOutBefore(entry, row.last_sequence);
    if (missed === undefined) throw recordsMissing(row.last_sequence, entry.sequence);
    if (row.left_out === 0) row.left_out_from = row.iterations;
    row.left_out += missed;
    row.last_sequence = entry.sequence;
    if (!entry.thinned || row.left_out === 0) return undefined;
    const { at, iterations, limitBytes } = entry.thinned as Partial<JournalThinning>;
    const { node, left_out: records, left_out_from: from } = row;
    row.left_out = 0;
    const told = { type: 'thinned', at, node, records, limitBytes };
    const isConcerned = from < (iterations?.to ?? 0);
    return isConcerned ? { ...told, iterations: { from, ...iterations } } : told;
  }

  stored(record: RunRecord): void {
    const ahead = this.#arrivedAt - record.at;
    const { clock_ahead: least } = this.#row;
    if (least === null || ahead < least) this.#row.clock_ahead = ahead;
    if (record.type !== 'iteration') return;
    const { rank, iteration } = record;
    this.ranks.set(rank, Math.max(this.ranks.get(rank) ?? 0, iteration + 1));
    this.#row.iterations = Math.max(this.#row.iterations, iteration + 1);
  }

  ends(record: JournalEnding): void {
    const ahead = this.#arrivedAt - record.at;
    this.#row.clock_ahead = Math.min(this.#row.clock_ahead ?? ahead, ahead);
    this.#row.ending = JSON.stringify(record);
    this.#hasEnded = true;
  }
}

/** Records that the journal lost can never be stored. */
export function recordsMissing(last: number, next: number): GradwireError {
  return failure(
    'RECORDS_MISSING',
    `record ${next} follows record ${last}: those in between are missing`,
    {
      next: `Stored records are kept. ${AGAIN}`,
    },
  );
}
