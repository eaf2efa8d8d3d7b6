/**
 * Writes records into a run's tables and updates its summary, in one transaction: every rank's
 * progress, and the mean loss there; `event-changes.ts` has what events change. Each node of a run
 * has a journal; appending is idempotent by (run, node, sequence), so records that are delivered
 * again, or to two processes at once, are stored once. Stored records get the run's own sequence
 * numbers, in the order of arrival; with one node these are the journal's. A record that cannot be
 * stored fails its run but does not hold up later ones (`refused-records.ts`).
 */
import type Database from 'better-sqlite3';
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import { failure, type ErrorData } from '../../shared/errors/errors.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  endsJournal,
  endsRun,
  type JournalEntry,
} from '../../shared/records/journal-entry.ts';
import { parseRecord, type RunRecord } from '../../shared/records/record-kinds.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { applyEvent, type EventTables } from './event-changes.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { IterationArchive, SealedRun } from './iteration-archive.ts';
import type { IterationReader } from './iteration-reader.ts';
import { JournalProgress } from './journal-progress.ts';
import { packSums } from './packed-sums.ts';
import { closeRefused, inPlaceOf, refusalOf } from './refused-records.ts';
import type { RunAlerts } from './run-alerts.ts';
import { endOf } from './run-ending.ts';
import type { RunJournals } from './run-journals.ts';
import type { RunReads } from './run-reads.ts';
import { summaryOf, type JournalRow, type RunRow } from './run-row.ts';
import type { RunRows } from './run-rows.ts';

/** The source of entries, and how much of their run the caller has seen. */
export interface AppendFrom {
  /** The journal's node; default: the run's first node. */
  readonly node?: string | undefined;
  /**
   * The last of the run's own sequence numbers that the caller knows; default: the
   * newest.
   */
  readonly seen?: number | undefined;
}

/** The outcome of storing entries. */
export interface StoredBatch {
  readonly summary: RunSummary;
  /**
   * The run's records that the caller has not seen, by its own sequence: these entries,
   * and those that another process has stored.
   */
  readonly entries: readonly JournalEntry[];
  /** The reason why an entry could not be stored; then the run ends as failed. */
  readonly refusal: ErrorData | undefined;
}

/** Entries of a run in progress as they were stored. */
interface Stored {
  readonly run: RunRow;
  readonly entries: readonly JournalEntry[];
}

/** Tables that a writer writes to, and what of them it has to read. */
export interface RecordTables extends EventTables {
  readonly sql: ReturnType<typeof prepareWrites>;
  readonly archive: IterationArchive;
  readonly reader: IterationReader;
  readonly alerts: RunAlerts;
}

/** Tables that records other than iterations need. */
export type WrittenTables = Pick<
  RecordTables,
  'alerts' | 'changes' | 'sql' | 'statements'
>;

export interface WriterParts {
  readonly database: GuardedDatabase;
  readonly rows: RunRows;
  readonly journals: RunJournals;
  readonly reads: RunReads;
  readonly tables: RecordTables;
}

/** Blocks that one append fills at most; older versions left more, which are moved later. */
const MOST_SEALED = 8;

export class RecordWriter {
  readonly #parts: WriterParts;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /**
   * Stores the new ones among the entries of a node's journal, which must be in order and
   * without a gap, except for those that the journal declares. All or nothing.
   * @throws GradwireError `RECORDS_MISSING`: a gap
   */
  append(
    id: string,
    entries: readonly JournalEntry[],
    { node, seen }: AppendFrom = {},
  ): StoredBatch {
    const { database, journals, reads, rows, tables } = this.#parts;
    const append = (): StoredBatch & {
      readonly stored: Stored | undefined;
      readonly alerts: readonly RaisedAlert[];
    } => {
      const row = rows.row(id);
      const journal = journals.row(row, node);
      const fresh = entries.filter((entry) => entry.sequence > journal.last_sequence);
      const missed = reads.after(row, seen ?? row.last_sequence);
      if (fresh.length === 0) {
        return {
          summary: summaryOf(row),
          entries: missed,
          refusal: undefined,
          stored: undefined,
          alerts: [],
        };
      }
      const written = writeRecords(tables, row, journal, fresh);
      const summary = summaryOf(rows.row(id));
      this.#seal({ ...row, hasEnded: hasEnded(summary.state) });
      return {
        summary,
        entries: [...missed, ...written.entries],
        refusal: written.refusal,
        alerts: written.alerts,
        stored: hasEnded(summary.state)
          ? undefined
          : { run: row, entries: written.entries },
      };
    };
    const { alerts, stored, ...batch } = database.write(append);
    if (stored !== undefined) tables.archive.committed(stored.run, stored.entries);
    tables.alerts.tell(batch.summary, alerts);
    return batch;
  }

  /** Moves records that are due into blocks; belongs into a transaction. */
  #seal(run: SealedRun): void {
    const { archive, statements } = this.#parts.tables;
    for (let blocks = 0; blocks < MOST_SEALED; blocks++) {
      const saved = archive.seal(run);
      if (saved === undefined) return;
      statements.addBytes.run(-saved, run.number);
    }
  }
}

interface Written {
  /** The entries as stored. */
  readonly entries: readonly JournalEntry[];
  /** The first reason why one of them could not be stored. */
  readonly refusal: ErrorData | undefined;
  /** Alerts that were raised by them or are over. */
  readonly alerts: readonly RaisedAlert[];
}

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
function writeRecords(
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
    bytes += writeRecord(tables, run, { sequence, record });
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
      // Records come from other machines, so they are checked again before they are stored.
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

/** @throws GradwireError `RECORD_INVALID` */
function takeRecord({ record: raw }: JournalEntry, { ranks }: RunRow): RunRecord {
  const record = parseRecord(raw);
  if (record.type === 'iteration' && record.rank >= ranks) {
    const message = `iteration record: rank is ${record.rank}, but the run has ${ranks} ranks`;
    throw failure('RECORD_INVALID', message, { rank: record.rank });
  }
  return record;
}

/** Writes one record. @returns bytes written */
export function writeRecord(
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
