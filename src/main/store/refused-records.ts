/**
 * Records that cannot be stored. Supervisors check records before they journal them. One that still
 * cannot be stored (an old journal, another version) must not hold up later ones: a notice with the
 * reason replaces it, and the run ends as failed, whatever its last record says.
 */
import Database from 'better-sqlite3';
import { failure, toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import type { FailedRecord } from '../../shared/records/failed.ts';
import { endsJournal } from '../../shared/records/journal-entry.ts';
import type { RunEvent, RunRecord } from '../../shared/records/record-kinds.ts';

/** A run with a record that could not be stored is not done, whatever its journal says. */
export function closeRefused<R extends RunRecord>(
  record: R,
  refusal: string | undefined,
): R | FailedRecord {
  if (record.type !== 'done' || refusal === undefined) return record;
  return { type: 'failed', at: record.at, error: JSON.parse(refusal) as ErrorData };
}

/**
 * The reason why an entry cannot be stored.
 * @throws errors that are not the record's fault: a full disk, a lock, our own defect
 */
export function refusalOf(error: unknown, sequence: number): ErrorData {
  const twice =
    error instanceof Database.SqliteError && error.code.startsWith('SQLITE_CONSTRAINT');
  const reason = twice
    ? failure('RECORD_INVALID', 'its iteration has already been stored')
    : error;
  const data = toErrorData(reason);
  if (data.code !== 'RECORD_INVALID') throw error;
  return { ...data, message: `record ${sequence} cannot be stored: ${data.message}` };
}

/** The replacement for a record: an end of the run, if the record was one. */
export function inPlaceOf(raw: unknown, error: ErrorData): RunEvent {
  const at = Date.now();
  if (typeof raw === 'object' && raw !== null && endsJournal(raw as RunRecord)) {
    return { type: 'failed', at, error };
  }
  const { code, message, rank } = error;
  return {
    type: 'notice',
    at,
    level: 'warning',
    ...(rank === undefined ? {} : { rank }),
    code,
    message,
  };
}
