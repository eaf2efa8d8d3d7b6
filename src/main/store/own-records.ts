/**
 * Records that this process makes of a run, which no journal has: its end without the journals of
 * machines that cannot be reached, and alerts that a moment raises.
 */
import type { RaisedAlert } from '../../shared/alerts/run-watch.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { RunEvent } from '../../shared/records/record-kinds.ts';
import {
  writeRecord,
  type AppendFrom,
  type StoredBatch,
  type WriterParts,
  type WrittenTables,
} from './record-writer.ts';
import { closeRefused } from './refused-records.ts';
import type { Moment } from './run-alerts.ts';
import { endOf } from './run-ending.ts';
import { summaryOf, type RunRow } from './run-row.ts';

/** Own records of a run as stored, and the alerts among them. */
interface Written {
  readonly entries: readonly JournalEntry[];
  readonly alerts: readonly RaisedAlert[];
}

export class OwnRecords {
  readonly #parts: Omit<WriterParts, 'journals'>;

  constructor(parts: Omit<WriterParts, 'journals'>) {
    this.#parts = parts;
  }

  /**
   * Ends a run with the journals that have ended, without the others.
   * @returns as `RecordWriter.append`
   */
  endEarly(id: string, { seen }: Pick<AppendFrom, 'seen'> = {}): StoredBatch {
    return this.#store(id, seen, (row) => writeEnd(this.#parts.tables, row));
  }

  /**
   * Lets the rules of alerts look at a run in progress.
   * @returns as `RecordWriter.append`
   */
  look(
    id: string,
    moment: Moment,
    { seen }: Pick<AppendFrom, 'seen'> = {},
  ): StoredBatch {
    return this.#store(id, seen, (row) =>
      row.state === 'running'
        ? writeMoment(this.#parts.tables, row, moment)
        : { entries: [], alerts: [] },
    );
  }

  #store(
    id: string,
    seen: number | undefined,
    write: (run: RunRow) => Written,
  ): StoredBatch {
    const { database, reads, rows, tables } = this.#parts;
    const { alerts, ...batch } = database.write(() => {
      const row = rows.row(id);
      const missed = reads.after(row, seen ?? row.last_sequence);
      const own = write(row);
      const entries = [...missed, ...own.entries];
      const summary = summaryOf(rows.row(id));
      return { summary, entries, refusal: undefined, alerts: own.alerts };
    });
    tables.alerts.tell(batch.summary, alerts);
    return batch;
  }
}

/**
 * Ends a run with the journals that have ended; the other nodes cannot be reached. Nothing is
 * stored if none has ended, or if the run has already ended.
 */
function writeEnd(tables: WrittenTables, run: RunRow): Written {
  const end = endOf(tables, run, { early: true });
  if (end === undefined) return { entries: [], alerts: [] };
  const record = closeRefused(end, run.error ?? undefined);
  const watch = tables.alerts.watch(run);
  const entries = writeOwn(tables, run, [...watch.observe(record), record]);
  watch.keep();
  return { entries, alerts: watch.told };
}

/** Stores what the rules of alerts find at a moment. */
function writeMoment(tables: WrittenTables, run: RunRow, moment: Moment): Written {
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
    bytes += writeRecord(tables, run, entry);
    return entry;
  });
  const last = run.last_sequence + entries.length;
  tables.sql.setLastSequence.run(last, bytes, Date.now(), run.number);
  return entries;
}
