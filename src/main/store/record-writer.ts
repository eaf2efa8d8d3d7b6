/**
 * Writes records into a run's tables and updates its summary: state, methods used, last
 * metric, every rank's progress, and the mean loss there. Runs within the caller's
 * transaction.
 *
 * Supervisors check records before they journal them. A record that still cannot be stored
 * (an old journal, another version) must not hold up later ones: a notice with the reason
 * replaces it, and the run ends as failed, whatever its last record says.
 */
import Database from 'better-sqlite3';
import { failure, toErrorData, type ErrorData } from '../../shared/errors/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import { LOCAL_NODE } from '../../shared/machines/node-entry.ts';
import type { DoneRecord } from '../../shared/records/done.ts';
import type { FailedRecord } from '../../shared/records/failed.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import {
  endsJournal,
  endsRun,
  type JournalEntry,
} from '../../shared/records/journal-entry.ts';
import { parseRecord } from '../../shared/records/parse-record.ts';
import {
  eventKindOf,
  type RunEvent,
  type RunRecord,
} from '../../shared/records/record-kinds.ts';
import { alertsAfter, type RunAlert } from '../../shared/records/run-alert.ts';
import { reportOf, rootCause } from '../../shared/errors/root-cause.ts';
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import { endedAt } from './ended-at.ts';
import type { IterationArchive } from './iteration-archive.ts';
import type { IterationReader } from './iteration-reader.ts';
import { JournalProgress } from './journal-progress.ts';
import type { JournalRow, RunRow } from './run-row.ts';
import { packSums } from './packed-sums.ts';
import type { Moment, RunAlerts } from './run-alerts.ts';
import type { Statements } from './statements.ts';

export interface Written {
  /** The entries as stored. */
  readonly entries: readonly JournalEntry[];
  /** The first reason why one of them could not be stored. */
  readonly refusal: ErrorData | undefined;
  /** Alerts that were raised by them or are over. */
  readonly alerts: readonly RaisedAlert[];
}

/** Tables that a writer writes to, and what of them it has to read. */
export interface RecordTables {
  readonly statements: Statements;
  readonly archive: IterationArchive;
  readonly reader: IterationReader;
  readonly alerts: RunAlerts;
}

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
  const { statements } = tables;
  const progress = new JournalProgress(journal);
  const newest = new Map<number, number>();
  /** An iteration at or after its rank's newest one needs no search in the blocks. */
  const requireNew = ({ rank, iteration }: IterationRecord): void => {
    let known = progress.ranks.get(rank) ?? newest.get(rank);
    known ??= statements.rankIterations.get(run.number, rank)?.iterations ?? Infinity;
    newest.set(rank, known);
    if (iteration >= known || !tables.archive.has(run.number, iteration, rank)) return;
    throw failure('RECORD_INVALID', 'its iteration has already been stored', { rank });
  };
  let refusal: ErrorData | undefined;
  let bytes = 0;
  const written: JournalEntry[] = [];
  const watch = tables.alerts.watch(run.number);
  const put = (record: RunRecord): void => {
    const sequence = run.last_sequence + written.length + 1;
    if (record.type === 'iteration') requireNew(record);
    bytes += write(statements, run, { sequence, record });
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
      statements.setRefusal.run(JSON.stringify(reason), run.number);
      take(inPlaceOf(entry.record, reason));
    }
  }
  statements.setJournal.run({ ...progress.row, run: run.number });
  if (progress.hasEnded) {
    const end = endOf(statements, run);
    const refused = run.error ?? (refusal && JSON.stringify(refusal));
    if (end !== undefined) store(closeRefused(end, refused));
  }
  const last = run.last_sequence + written.length;
  statements.setLastSequence.run(last, bytes, Date.now(), run.number);
  for (const [rank, iterations] of progress.ranks) {
    statements.setRankProgress.run(run.number, rank, iterations);
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
export function writeEnd(
  { alerts, statements }: Pick<RecordTables, 'alerts' | 'statements'>,
  run: RunRow,
): OwnRecords {
  const end = endOf(statements, run, { early: true });
  if (end === undefined) return { entries: [], alerts: [] };
  const record = closeRefused(end, run.error ?? undefined);
  const watch = alerts.watch(run.number);
  const entries = writeOwn(statements, run, [...watch.observe(record), record]);
  watch.keep();
  return { entries, alerts: watch.told };
}

/** Stores what the rules of alerts find at a moment. */
export function writeMoment(
  { alerts, statements }: Pick<RecordTables, 'alerts' | 'statements'>,
  run: RunRow,
  moment: Moment,
): OwnRecords {
  const watch = alerts.watch(run.number);
  const entries = writeOwn(statements, run, watch.look(moment));
  watch.keep();
  return { entries, alerts: watch.told };
}

/** Stores events that no journal has, after all others. */
function writeOwn(
  statements: Statements,
  run: RunRow,
  records: readonly RunEvent[],
): readonly JournalEntry[] {
  if (records.length === 0) return [];
  let bytes = 0;
  const entries = records.map((record, index) => {
    const entry = { sequence: run.last_sequence + index + 1, record };
    bytes += write(statements, run, entry);
    return entry;
  });
  const last = run.last_sequence + entries.length;
  statements.setLastSequence.run(last, bytes, Date.now(), run.number);
  return entries;
}

/** The end of a run from its ended journals: all of them, unless it is ended early. */
function endOf(
  statements: Statements,
  run: RunRow,
  { early = false } = {},
): DoneRecord | FailedRecord | undefined {
  const journals = statements.journals.all(run.number);
  if (!early && journals.some(({ ending }) => ending === null)) return undefined;
  if (statements.endingEvent.get(run.number) !== undefined) return undefined;
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
  statements: Statements,
  run: RunRow,
  { sequence, record }: JournalEntry,
): number {
  const json = JSON.stringify(record);
  if (record.type === 'bucket-sums') {
    const { from, rank, to } = record;
    const packed = packSums(json);
    statements.insertBucketSums.run(run.number, from, to, rank, sequence, packed);
    return packed.length;
  }
  if (record.type === 'iteration') {
    const { iteration, rank } = record;
    statements.insertIteration.run(run.number, iteration, rank, sequence, json);
  } else if (record.type === 'log') {
    statements.insertLogLine.run(run.number, sequence, json);
  } else if (record.type === 'trace') {
    const { iteration, rank } = record;
    statements.insertTrace.run(run.number, iteration, rank, sequence, json);
  } else if (record.type === 'utilisation') {
    const { from, to } = record;
    statements.insertUtilisation.run(run.number, sequence, from, to, json);
  } else {
    statements.insertEvent.run(run.number, sequence, json);
    applyEvent(statements, run, record);
  }
  return json.length;
}

/** Applies what an event changes in its run's summary. */
function applyEvent(statements: Statements, run: RunRow, event: RunEvent): void {
  const change = eventKindOf(event).summary(event);
  if (change === undefined) return;
  const { alert, end, method, metric, running } = change;
  if (alert !== undefined) addAlert(statements, run, alert);
  if (running !== undefined) {
    const { metricKind } = running;
    statements.setRunning.run(metricKind && JSON.stringify(metricKind), run.number);
  }
  if (metric !== undefined) statements.setMetric.run(metric, run.number);
  if (method !== undefined) addMethod(statements, run, method);
  if (end !== undefined) {
    statements.endRun.run(
      end.state,
      endOfRun(statements, run, end.at),
      end.metric ?? null,
      end.error === undefined ? null : JSON.stringify(end.error),
      run.number,
    );
  }
}

function addMethod(statements: Statements, run: RunRow, method: string): void {
  const { methods } = statements.runById.get(run.id)!;
  const used = JSON.parse(methods) as string[];
  if (used.at(-1) === method) return;
  used.push(method);
  statements.setMethods.run(JSON.stringify(used), run.number);
}

function addAlert(
  statements: Statements,
  run: RunRow,
  alert: Parameters<typeof alertsAfter>[1],
): void {
  const { alerts } = statements.runById.get(run.id)!;
  const known = alerts === null ? [] : (JSON.parse(alerts) as RunAlert[]);
  statements.setAlerts.run(JSON.stringify(alertsAfter(known, alert)), run.number);
}

function endOfRun(statements: Statements, run: RunRow, lastAt: number): number {
  return endedAt({
    createdAt: run.created_at,
    now: Date.now(),
    firstAt: statements.firstEventAt.get(run.number)?.at ?? lastAt,
    lastAt,
    isHere: nodesOf(JSON.parse(run.spec) as ExperimentSpec).every(
      (node) => node === LOCAL_NODE,
    ),
    ahead: clockAhead(statements, run, lastAt),
  });
}

/** The `ahead` of the journal that ends at that time: the run's end was taken from it. */
function clockAhead(
  statements: Statements,
  run: RunRow,
  lastAt: number,
): number | undefined {
  const ends = statements.journals
    .all(run.number)
    .filter(
      ({ ending }) =>
        ending !== null && (JSON.parse(ending) as RunRecord).at === lastAt,
    );
  return (
    ends.find(({ clock_ahead: ahead }) => ahead !== null)?.clock_ahead ?? undefined
  );
}

/** Iterations to look back over for one that all ranks have recorded. */
const LOOK_BACK = 1024;

/**
 * Updates the count of iterations that every rank has finished, and the mean loss of the
 * newest one stored for all ranks. Omitted iterations do not hold it up.
 */
function moveOn({ statements, reader }: RecordTables, run: RunRow): void {
  const { ranks, iterations } = statements.rankProgress.get(run.number)!;
  if (iterations === null || ranks < run.ranks || iterations <= run.iterations) return;
  const recent = statements.lossBefore.get({
    run: run.number,
    ranks: run.ranks,
    from: iterations - LOOK_BACK,
    to: iterations,
  });
  // Some of its ranks' records may lie in a block already.
  const loss = recent === undefined ? reader.lossBefore(run, iterations) : recent.loss;
  statements.setProgress.run(iterations, loss ?? run.loss, run.number);
}
