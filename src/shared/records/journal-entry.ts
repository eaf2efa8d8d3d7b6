/** A record's place in its run's journal, and the end of a journal. */
import { z } from 'zod';
import type { DoneRecord } from './done.ts';
import type { FailedRecord } from './failed.ts';
import { count } from './fields.ts';
import type { FinishedRecord } from './finished.ts';
import type { RunRecord } from './record-kinds.ts';
import { thinnedRecordSchema } from './thinned.ts';

/**
 * A record with its place in the run's journal. Sequences start at 1 and have no gaps except
 * declared ones, where details were dropped to keep the journal's bound.
 */
export interface JournalEntry {
  readonly sequence: number;
  /** The entry before it, if those in between were dropped; default: sequence − 1. */
  readonly follows?: number | undefined;
  /** Records that were dropped, on the first entry after a gap. */
  readonly thinned?: JournalThinning | undefined;
  readonly record: RunRecord;
}

export const thinningSchema = thinnedRecordSchema
  .pick({ at: true, limitBytes: true })
  .extend({
    /** Iterations below `to`, of which at least every `every`-th is present for all ranks. */
    iterations: z.object({ to: count, every: z.int().min(1) }),
  })
  .strip();
/** Everything that was dropped from a journal. */
export type JournalThinning = Readonly<z.infer<typeof thinningSchema>>;

/**
 * Returns how many entries were dropped between the entry with sequence `last` and this one;
 * undefined if entries are missing that the journal did not declare, so that this one cannot
 * come next.
 */
export function leftOutBefore(entry: JournalEntry, last: number): number | undefined {
  const { sequence, follows = sequence - 1 } = entry;
  const fits = Number.isSafeInteger(sequence) && follows <= last && last < sequence;
  return fits ? sequence - last - 1 : undefined;
}

export function endsRun(record: RunRecord): record is DoneRecord | FailedRecord {
  return record.type === 'done' || record.type === 'failed';
}

export type JournalEnding = DoneRecord | FailedRecord | FinishedRecord;

/** Whether it is the last record of its node's journal. */
export function endsJournal(record: RunRecord): record is JournalEnding {
  return endsRun(record) || record.type === 'finished';
}
