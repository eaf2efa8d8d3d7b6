/**
 * Writes records into a run's tables and updates its summary: every rank's progress, and the
 * mean loss there; `event-changes.ts` has what events change. Runs within the caller's
 * transaction.
 *
 * Supervisors check records before they journal them. A record that still cannot be stored
 * (an old journal, another version) must not hold up later ones: a notice with the reason
 * replaces it, and the run ends as failed, whatever its last record says.
 */
import Database from 'better-sqlite3';
import { failure, toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import type { DoneRecord } from '../../shared/records/done.ts';
import type { FailedRecord } from '../../shared/records/failed.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  endsJournal,
  endsRun,
  type JournalEntry,
} from '../../shared/records/journal-entry.ts';
import {
  parseRecord,
  type RunEvent,
  type RunRecord,
} from '../../shared/records/record-kinds.ts';
import { reportOf, rootCause } from '../../shared/errors/root-cause.ts';
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import { applyEvent, type EventTables } from './event-changes.ts';
import type { IterationArchive } from './iteration-archive.ts';
import type { IterationReader } from './iteration-reader.ts';
import { JournalProgress } from './journal-progress.ts';
import type { JournalRow, RunRow } from './run-row.ts';
import { packSums } from './packed-sums.ts';
import type { Moment, RunAlerts } from './run-alerts.ts';

export interface Written {
  /** The entries as stored. */
  readonly entries: readonly JournalEntry[];
  /** The first reason why one of them could not be stored. */
  readonly refusal: ErrorData | undefined;
  /** Alerts that were raised by them or are over. */
  readonly alerts: readonly RaisedAlert[];
}

/** Tables that a writer writes to, and what of them it has to read. */
export interface RecordTables extends EventTables {
  readonly sql: ReturnType<typeof prepareWrites>;
  readonly archive: IterationArchive;
  readonly reader: IterationReader;
  readonly alerts: RunAlerts;
}

type WrittenTables = Pick<RecordTables, 'alerts' | 'changes' | 'sql' | 'statements'>;

export const prepareWrites = (database: Database.Database) => ({
  insertIteration: database.prepare<[number, number, number, number, string]>(`
    INSERT INTO iterations (run, iteration, rank, sequence, record)
    VALUES (?, ?, ?, ?, ?)`),
  insertEvent: database.prepare<[number, number, string]>(
    'INSERT INTO events (run, sequence, record) VALUES (?, ?, ?)',
  ),
  insertLogLine: database.prepare<[number, number, string]>(
    'INSERT INTO log_lines (run, sequence, record) VALUES (?, ?, ?)',
  ),
  insertTrace: database.prepare<[number, number, number, number, string]>(`
    INSERT OR IGNORE INTO traces (run, iteration, rank, sequence, record)
    VALUES (?, ?, ?, ?, ?)`),
  insertBucketSums: database.prepare<
    [number, number, number, number, number, Uint8Array]
  >(`
    INSERT OR IGNORE INTO bucket_sums (run, first, last, rank, sequence, record)
    VALUES (?, ?, ?, ?, ?, ?)`),
  insertUtilisation: database.prepare<[number, number, number, number, string]>(`
    INSERT INTO utilisation (run, sequence, first, last, record)
    VALUES (?, ?, ?, ?, ?)`),
  setJournal: database.prepare<
    [Omit<JournalRow, 'node'> & { readonly run: number; readonly node: string }]
  >(`
    UPDATE journals SET last_sequence = @last_sequence, ending = @ending,
      iterations = @iterations, left_out = @left_out, left_out_from = @left_out_from,
      clock_ahead = @clock_ahead
    WHERE run = @run AND node = @node`),
  setRankProgress: database.prepare<[number, number, number]>(`
    INSERT INTO rank_progress (run, rank, iterations) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET iterations = max(iterations, excluded.iterations)`),
  rankIterations: database.prepare<[number, number], { iterations: number }>(
    'SELECT iterations FROM rank_progress WHERE run = ? AND rank = ?',
  ),
  rankProgress: database.prepare<
    [number],
    { ranks: number; iterations: number | null }
  >(`
    SELECT count(*) AS ranks, min(iterations) AS iterations
    FROM rank_progress WHERE run = ?`),
  lossBefore: database.prepare<
    [{ run: number; ranks: number; from: number; to: number }],
    { loss: number | null }
  >(`
    SELECT avg(record ->> '$.loss') AS loss FROM iterations
    WHERE run = @run AND iteration >= @from AND iteration < @to
    GROUP BY iteration HAVING count(*) = @ranks
    ORDER BY iteration DESC LIMIT 1`),
  newestLoss: database.prepare<
    [{ run: number; ranks: number; from: number; to: number }],
    { loss: number }
  >(`
    SELECT avg(record ->> '$.loss') AS loss FROM iterations
    WHERE run = @run AND iteration >= @from AND iteration < @to
    GROUP BY iteration HAVING count(*) = @ranks AND loss IS NOT NULL
    ORDER BY iteration DESC LIMIT 1`),
  setLastSequence: database.prepare<[number, number, number, number]>(`
    UPDATE runs SET last_sequence = ?, bytes = bytes + ?, stored_at = ?
    WHERE number = ?`),
  setProgress: database.prepare<[number, number | null, number]>(
    'UPDATE runs SET iterations = ?, loss = ? WHERE number = ?',
  ),
  setRefusal: database.prepare<[string, number]>(
    'UPDATE runs SET error = coalesce(error, ?) WHERE number = ?',
  ),
  endingEvent: database.prepare<[number], { sequence: number }>(`
    SELECT sequence FROM events
    WHERE run = ? AND record ->> '$.type' IN ('done', 'failed') LIMIT 1`),
});

/**
 * Stores entries of one node's journal, in order and without a gap that the journal does not
 * declare. At the end of a gap a record describes what was left out. The record that ends a
 * run is held back until the journals of all its nodes have ended.
 * @throws GradwireError `RECORDS_MISSING`
 */
export function writeRecords(
  tables: RecordTables,
  run: RunRow,
  journal: JournalRow,
  entries: readonly JournalEntry[],
): Written {
  const { sql } = tables;
  const progress = new JournalProgress(journal);
  const newest = new Map<number, number>();
  /** An iteration at or after its rank's newest one needs no search in the blocks. */
  const requireNew = ({ rank, iteration }: IterationRecord): void => {
    let known = progress.ranks.get(rank) ?? newest.get(rank);
    known ??= sql.rankIterations.get(run.number, rank)?.iterations ?? Infinity;
    newest.set(rank, known);
    if (iteration >= known || !tables.archive.has(run.number, iteration, rank)) return;
    throw failure('RECORD_INVALID', 'its iteration has already been stored', { rank });
  };
  let refusal: ErrorData | undefined;
  let bytes = 0;
  const written: JournalEntry[] = [];
  const watch = tables.alerts.watch(run);
  const put = (record: RunRecord): void => {
    const sequence = run.last_sequence + written.length + 1;
    if (record.type === 'iteration') requireNew(record);
    bytes += write(tables, run, { sequence, record });
    written.push({ sequence, record });
    progress.stored(record);
  };
  // The record that ends a run stays its last one.
  const store = (record: RunRecord): void => {
    if (!endsRun(record)) put(record);
    for (const alert of watch.observe(record)) put(alert);
    if (endsRun(record)) put(record);
  };
  const take = (record: RunRecord): void => {
    if (endsJournal(record)) progress.ends(record);
    if (!endsRun(record)) store(record);
  };
  for (const entry of entries) {
    const thinned = progress.advance(entry);
    const refused = run.error ?? (refusal && JSON.stringify(refusal));
    try {
      // A machine may send anything.
      if (thinned !== undefined) store(parseRecord(thinned));
      take(closeRefused(takeRecord(entry, run), refused));
    } catch (error) {
      const reason = refusalOf(error, entry.sequence);
      refusal ??= reason;
      sql.setRefusal.run(JSON.stringify(reason), run.number);
      take(inPlaceOf(entry.record, reason));
    }
  }
  sql.setJournal.run({ ...progress.row, run: run.number });
  if (progress.hasEnded) {
    const end = endOf(tables, run);
    const refused = run.error ?? (refusal && JSON.stringify(refusal));
    if (end !== undefined) store(closeRefused(end, refused));
  }
  const last = run.last_sequence + written.length;
  sql.setLastSequence.run(last, bytes, Date.now(), run.number);
  for (const [rank, iterations] of progress.ranks) {
    sql.setRankProgress.run(run.number, rank, iterations);
  }
  moveOn(tables, run);
  watch.keep();
  return { entries: written, refusal, alerts: watch.told };
}

/** Records that this process makes of a run, as stored, and the alerts among them. */
export interface OwnRecords {
  readonly entries: readonly JournalEntry[];
  readonly alerts: readonly RaisedAlert[];
}

/**
 * Ends a run with the journals that have ended; the other nodes cannot be reached. Nothing is
 * stored if none has ended, or if the run has already ended.
 */
export function writeEnd(tables: WrittenTables, run: RunRow): OwnRecords {
  const end = endOf(tables, run, { early: true });
  if (end === undefined) return { entries: [], alerts: [] };
  const record = closeRefused(end, run.error ?? undefined);
  const watch = tables.alerts.watch(run);
  const entries = writeOwn(tables, run, [...watch.observe(record), record]);
  watch.keep();
  return { entries, alerts: watch.told };
}

/** Stores what the rules of alerts find at a moment. */
export function writeMoment(
  tables: WrittenTables,
  run: RunRow,
  moment: Moment,
): OwnRecords {
  const watch = tables.alerts.watch(run);
  const entries = writeOwn(tables, run, watch.look(moment));
  watch.keep();
  return { entries, alerts: watch.told };
}

/** Stores events that no journal has, after all others. */
function writeOwn(
  tables: WrittenTables,
  run: RunRow,
  records: readonly RunEvent[],
): readonly JournalEntry[] {
  if (records.length === 0) return [];
  let bytes = 0;
  const entries = records.map((record, index) => {
    const entry = { sequence: run.last_sequence + index + 1, record };
    bytes += write(tables, run, entry);
    return entry;
  });
  const last = run.last_sequence + entries.length;
  tables.sql.setLastSequence.run(last, bytes, Date.now(), run.number);
  return entries;
}

/** The end of a run from its ended journals: all of them, unless it is ended early. */
function endOf(
  { sql, statements }: WrittenTables,
  run: RunRow,
  { early = false } = {},
): DoneRecord | FailedRecord | undefined {
  const journals = statements.journals.all(run.number);
  if (!early && journals.some(({ ending }) => ending === null)) return undefined;
  if (sql.endingEvent.get(run.number) !== undefined) return undefined;
  return endingOf(journals);
}

/** Returns the failure that explains the others if a node failed; otherwise the result. */
export function endingOf(
  journals: readonly { readonly ending: string | null }[],
): DoneRecord | FailedRecord | undefined {
  const endings = journals.flatMap(({ ending }) =>
    ending === null ? [] : [JSON.parse(ending) as RunRecord],
  );
  const failures = endings.filter((ending) => ending.type === 'failed');
  if (failures.length === 0) return endings.find((ending) => ending.type === 'done');
  const cause = rootCause(failures.map(({ error }) => reportOf(error)));
  return failures.find(({ error }) => error === cause);
}

/** @throws GradwireError `RECORD_INVALID` */
function takeRecord({ record: raw }: JournalEntry, { ranks }: RunRow): RunRecord {
  const record = parseRecord(raw);
  if (record.type === 'iteration' && record.rank >= ranks) {
    const message = `iteration record: rank is ${record.rank}, but the run has ${ranks} ranks`;
    throw failure('RECORD_INVALID', message, { rank: record.rank });
  }
  return record;
}

/** A run with a record that could not be stored is not done, whatever its journal says. */
function closeRefused<R extends RunRecord>(
  record: R,
  refusal: string | undefined,
): R | FailedRecord {
  if (record.type !== 'done' || refusal === undefined) return record;
  return { type: 'failed', at: record.at, error: JSON.parse(refusal) as ErrorData };
}

/**
 * @throws errors that are not the record's fault: a full disk, a lock, our own defect
 */
function refusalOf(error: unknown, sequence: number): ErrorData {
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
function inPlaceOf(raw: unknown, error: ErrorData): RunEvent {
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

/** @returns bytes written */
function write(
  tables: WrittenTables,
  run: RunRow,
  { sequence, record }: JournalEntry,
): number {
  const { sql } = tables;
  const json = JSON.stringify(record);
  if (record.type === 'bucket-sums') {
    const { from, rank, to } = record;
    const packed = packSums(json);
    sql.insertBucketSums.run(run.number, from, to, rank, sequence, packed);
    return packed.length;
  }
  if (record.type === 'iteration') {
    const { iteration, rank } = record;
    sql.insertIteration.run(run.number, iteration, rank, sequence, json);
  } else if (record.type === 'log') {
    sql.insertLogLine.run(run.number, sequence, json);
  } else if (record.type === 'trace') {
    const { iteration, rank } = record;
    sql.insertTrace.run(run.number, iteration, rank, sequence, json);
  } else if (record.type === 'utilisation') {
    const { from, to } = record;
    sql.insertUtilisation.run(run.number, sequence, from, to, json);
  } else {
    sql.insertEvent.run(run.number, sequence, json);
    applyEvent(tables, run, record);
  }
  return json.length;
}

/** Iterations to look back over for one that all ranks have recorded. */
const LOOK_BACK = 1024;

/**
 * Updates the count of iterations that every rank has finished, and the mean loss of the newest one
 * stored for all ranks that has a loss: a program may tell it once in many steps. Omitted iterations
 * do not hold it up.
 */
function moveOn({ sql, reader }: RecordTables, run: RunRow): void {
  const { ranks, iterations } = sql.rankProgress.get(run.number)!;
  if (iterations === null || ranks < run.ranks || iterations <= run.iterations) return;
  const of = { run: run.number, ranks: run.ranks, to: iterations };
  const from = iterations - LOOK_BACK;
  const newest = sql.lossBefore.get({ ...of, from });
  // Some of its ranks' records may lie in a block already.
  let loss = newest === undefined ? reader.lossBefore(run, iterations) : newest.loss;
  // Earlier ones were looked at when they were the newest.
  loss ??= sql.newestLoss.get({ ...of, from: Math.max(from, run.iterations) })?.loss;
  sql.setProgress.run(iterations, loss ?? run.loss, run.number);
}
