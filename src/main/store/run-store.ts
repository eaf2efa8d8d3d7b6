/**
 * The run store: every run and its records. Each node of a run has a journal; appending is
 * idempotent by (run, node, sequence), so records that are delivered again, or to two
 * processes at once, are stored once. Stored records get the run's own sequence numbers,
 * in the order of arrival; with one node these are the journal's. The run's summary is
 * updated in the same transaction. A record that cannot be stored fails its run but does
 * not hold up later ones (`record-writer.ts`).
 */
import type Database from 'better-sqlite3';
import {
  failure,
  inputError,
  toErrorData,
  type ErrorData,
  GradwireError,
} from '../../shared/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { EvaluationRecord } from '../../shared/records/evaluation.ts';
import type { IterationRecord } from '../../shared/records/iteration.ts';
import type { JournalEntry } from '../../shared/records/journal-entry.ts';
import type { RunEvent, RunRecord } from '../../shared/records/record-kinds.ts';
import {
  hasEnded,
  type BinsPiece,
  type BinsQuery,
  type IterationPlace,
  type RunDetail,
  type RunSummary,
} from '../../shared/rpc/rpc.ts';
import { databaseError } from './database-error.ts';
import { openDatabase, type OpenedDatabase } from './database.ts';
import { FactTable } from './fact-table.ts';
import { HistorySpace } from './history-space.ts';
import { IterationArchive, type SealedRun } from './iteration-archive.ts';
import {
  IterationReader,
  type IterationPiece,
  type IterationRange,
} from './iteration-reader.ts';
import { LegibleRows } from './legible-rows.ts';
import { LinkTable } from './link-table.ts';
import { NodeTable } from './node-table.ts';
import {
  endingOf,
  writeEnd,
  writeRecords,
  type RecordTables,
} from './record-writer.ts';
import {
  summaryOf,
  type JournalRow,
  type MissingJournal,
  type RunRow,
} from './run-row.ts';
import { PAGE, prepareStatements, type Statements } from './statements.ts';
import { storedSpec } from './stored-json.ts';
import { entriesOf, entryOf, fittingRows } from './stored-rows.ts';

export interface NewRun {
  readonly id: string;
  readonly spec: ExperimentSpec;
  readonly switches: readonly SwitchRequest[];
  readonly createdAt: number;
  /** The process that will start it; absent if a supervisor already runs it. */
  readonly launcher?: number | undefined;
}

export interface RunQuery {
  readonly search?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** True: only deleted runs. Otherwise only the others. */
  readonly deleted?: boolean | undefined;
}

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

/** A run that has not ended, as far as the store knows. */
export interface OpenJournals {
  readonly someEnded: boolean;
  /** Nodes whose journals have not ended. */
  readonly open: readonly string[];
  /** The failure that the ended journals report, if any. */
  readonly failure: ErrorData | undefined;
}

export interface UnendedRun {
  readonly id: string;
  readonly name: string;
  /** The nodes with ranks of it, the leading one first. */
  readonly nodes: readonly string[];
  readonly starting: boolean;
  readonly launcher: number | undefined;
}

/**
 * Errors of runs whose machines were not asked, or did not answer: a run may still be there
 * when its machine is seen again.
 */
const PRESUMPTIONS: readonly string[] = ['NODE_REMOVED', 'RUN_LOST'];

/** Newest events of a run that is shown, and earlier ones that say what it is: at most. */
const SHOWN_EVENTS = 2000;
/** Bytes of either: events of many ranks are large. */
const SHOWN_BYTES = 1.5 * 2 ** 20;

/** Time for which a reader makes levels before it answers. */
const RAISE_MS = 40;

/** Blocks that one append fills at most; older versions left more, which are moved later. */
const MOST_SEALED = 8;

export class RunStore {
  /** The inventory of machines. */
  readonly nodes: NodeTable;
  /** The measured links between them. */
  readonly links: LinkTable;
  /** Facts that were last found out about the machines. */
  readonly facts: FactTable;
  /** The space that all of it takes. */
  readonly space: HistorySpace;
  /** Set if nothing can be stored: why, and what to do. */
  readonly readOnly: GradwireError | undefined;
  readonly #file: string;
  readonly #database: Database.Database;
  readonly #statements: Statements;
  readonly #archive: IterationArchive;
  readonly #reader: IterationReader;
  readonly #legible = new LegibleRows();
  #dataVersion: number | undefined;

  private constructor(file: string, { database, readOnly }: OpenedDatabase) {
    this.#file = file;
    this.#database = database;
    this.readOnly = readOnly;
    this.#statements = prepareStatements(database);
    this.#archive = new IterationArchive(database);
    this.#reader = new IterationReader(database, this.#archive);
    this.nodes = new NodeTable(database, file);
    this.links = new LinkTable(database, file);
    this.facts = new FactTable(database, file);
    this.space = new HistorySpace(database, file, this.#archive);
  }

  /** @throws GradwireError as `openDatabase` does */
  static open(file: string): RunStore {
    const opened = openDatabase(file);
    try {
      return new RunStore(file, opened);
    } catch (thrown) {
      opened.database.close();
      throw databaseError(thrown, file);
    }
  }

  close(): void {
    this.#database.close();
  }

  create(run: NewRun): RunSummary {
    const create = (): RunSummary => {
      const { lastInsertRowid } = this.#statements.createRun.run({
        id: run.id,
        name: run.spec.name,
        spec: JSON.stringify(run.spec),
        switches: JSON.stringify(run.switches),
        launcher: run.launcher ?? null,
        created_at: run.createdAt,
        iterations_planned: run.spec.iterations,
        ranks: run.spec.world.ranks,
        model: run.spec.workload.model,
        dataset: run.spec.workload.dataset,
        methods: JSON.stringify([run.spec.exchange.method]),
      });
      for (const node of nodesOf(run.spec)) {
        this.#statements.createJournal.run(lastInsertRowid, node);
      }
      return this.summary(run.id);
    };
    const summary = this.#guard(() => this.#database.transaction(create).immediate());
    this.space.keepReserve();
    return summary;
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
    const append = (): StoredBatch & { readonly stored: Stored | undefined } => {
      const row = this.#row(id);
      const journal = this.#journal(row, node);
      const fresh = entries.filter((entry) => entry.sequence > journal.last_sequence);
      const missed = this.#after(row, seen ?? row.last_sequence);
      if (fresh.length === 0) {
        return {
          summary: summaryOf(row),
          entries: missed,
          refusal: undefined,
          stored: undefined,
        };
      }
      const written = writeRecords(this.#tables, row, journal, fresh);
      const summary = this.summary(id);
      this.#seal({ ...row, hasEnded: hasEnded(summary.state) });
      return {
        summary,
        entries: [...missed, ...written.entries],
        refusal: written.refusal,
        stored: hasEnded(summary.state)
          ? undefined
          : { run: row, entries: written.entries },
      };
    };
    const { stored, ...batch } = this.#guard(() =>
      this.#database.transaction(append).immediate(),
    );
    if (stored !== undefined) this.#archive.committed(stored.run, stored.entries);
    return batch;
  }

  /**
   * Ends a run with the journals that have ended, without the others.
   * @returns as `append`
   */
  endEarly(id: string, { seen }: Pick<AppendFrom, 'seen'> = {}): StoredBatch {
    const end = (): StoredBatch => {
      const row = this.#row(id);
      const missed = this.#after(row, seen ?? row.last_sequence);
      const entry = writeEnd(this.#statements, row);
      const entries = entry === undefined ? missed : [...missed, entry];
      return { summary: this.summary(id), entries, refusal: undefined };
    };
    return this.#guard(() => this.#database.transaction(end).immediate());
  }

  /** Returns which journals of the run have ended, how, and which have not. */
  openJournals(id: string): OpenJournals {
    return this.#guard(() => {
      const run = this.#row(id).number;
      const journals = this.#statements.journals.all(run);
      const open = journals.filter(({ ending }) => ending === null);
      const end = endingOf(journals);
      return {
        someEnded: open.length < journals.length,
        open: open.map(({ node }) => node),
        failure: end?.type === 'failed' ? end.error : undefined,
      };
    });
  }

  /**
   * Journals that runs have ended without. If a run failed before it began on a node,
   * there may be none there.
   */
  missingJournals(): readonly MissingJournal[] {
    return this.#guard(() => this.#statements.missingJournals.all());
  }

  /**
   * The node has no more of the run's journal than is stored, so it is not read again.
   */
  closeJournal(id: string, node: string): void {
    const ending: RunRecord = { type: 'finished', at: Date.now(), node };
    this.#guard(() => {
      const row = this.#row(id);
      const journal = { ...this.#journal(row, node), ending: JSON.stringify(ending) };
      this.#statements.setJournal.run({ ...journal, run: row.number });
    });
  }

  /** Ends a run that no record will end; does not change an ended run. */
  fail(id: string, error: ErrorData, at: number): RunSummary {
    return this.#guard(() => {
      this.#statements.failRun.run(JSON.stringify(error), at, id);
      return this.summary(id);
    });
  }

  /** Whether the run was recorded as failed without the word of its machines. */
  isPresumedLost(id: string): boolean {
    const { state, error } = this.summary(id);
    return state === 'failed' && PRESUMPTIONS.includes(error?.code ?? '');
  }

  /**
   * Corrects a run that was presumed lost: a machine has it. Does nothing to other runs.
   * @returns whether it was corrected
   */
  reopen(id: string): boolean {
    const codes = JSON.stringify(PRESUMPTIONS);
    return this.#guard(() => this.#statements.reopenRun.run({ id, codes }).changes > 0);
  }

  /** @throws GradwireError `RUN_UNKNOWN` */
  summary(id: string): RunSummary {
    return this.#guard(() => summaryOf(this.#row(id)));
  }

  has(id: string): boolean {
    return this.#guard(() => this.#statements.runById.get(id) !== undefined);
  }

  /** The last of the run's own sequence numbers. */
  lastSequence(id: string): number {
    return this.#guard(() => this.#row(id).last_sequence);
  }

  /** Returns the last sequence that is stored of a node's journal. */
  journalPosition(id: string, node: string): number {
    return this.#guard(() => this.#journal(this.#row(id), node).last_sequence);
  }

  spec(id: string): ExperimentSpec {
    return this.#guard(() => storedSpec(this.#row(id)));
  }

  /** The switches requested when the run was launched. */
  switches(id: string): readonly SwitchRequest[] {
    return this.#guard(() => JSON.parse(this.#row(id).switches) as SwitchRequest[]);
  }

  detail(id: string): RunDetail {
    // One transaction: the events and the last sequence belong to the same moment.
    return this.#guard(() =>
      this.#database.transaction(() => {
        const row = this.#row(id);
        return {
          ...summaryOf(row),
          spec: storedSpec(row),
          events: this.#statements.events
            .all(row.number)
            .map(({ record }) => JSON.parse(record) as RunEvent),
          lastSequence: row.last_sequence,
        };
      })(),
    );
  }

  /**
   * A run as it is shown: `detail` with a bound on its events. It has the newest ones, and of
   * the others those that say what the run is.
   */
  shown(id: string): RunDetail {
    return this.#read(() => {
      const row = this.#row(id);
      const run = row.number;
      const limit = SHOWN_EVENTS;
      const all = this.#statements.newestEvents.all(run, limit);
      const newest = fittingRows(all, SHOWN_BYTES);
      const isWhole = all.length < limit && newest.length === all.length;
      const before = isWhole ? 0 : newest.at(-1)!.sequence;
      const shaping = fittingRows(
        this.#statements.shapingEvents.all({ run, before, limit }),
        SHOWN_BYTES,
      );
      const shown = [...newest, ...shaping].reverse();
      const omitted =
        before === 0 ? 0 : this.#statements.countEvents.get(run)!.count - shown.length;
      return {
        ...summaryOf(row),
        spec: storedSpec(row),
        events: shown.map(({ record }) => JSON.parse(record) as RunEvent),
        ...(omitted === 0 ? {} : { omittedEvents: omitted }),
        lastSequence: row.last_sequence,
      };
    });
  }

  /** Newest first. */
  list(query: RunQuery = {}): readonly RunSummary[] {
    const words = (query.search ?? '').replace(/[\\%_]/g, '\\$&');
    return this.#guard(() =>
      this.#legible.read(
        this.#statements.listRuns.all({
          deleted: query.deleted === true ? 1 : 0,
          search: `%${words}%`,
          limit: query.limit ?? 100,
          offset: query.offset ?? 0,
        }),
        idOf,
        summaryOf,
      ),
    );
  }

  /** Returns the errors of damaged rows, whose runs are left out of lists. Each is told once. */
  takeDamage(): readonly GradwireError[] {
    return this.#legible.takeDamage();
  }

  unended(): readonly UnendedRun[] {
    return this.#guard(() =>
      this.#legible.read(this.#statements.unendedRuns.all(), idOf, (row) => ({
        id: row.id,
        name: row.name,
        nodes: nodesOf(storedSpec(row)),
        starting: row.state === 'starting',
        launcher: row.launcher ?? undefined,
      })),
    );
  }

  /**
   * The run id with the given prefix.
   * @throws GradwireError `RUN_UNKNOWN`, `RUN_AMBIGUOUS`
   */
  resolve(prefix: string): string {
    const ids = this.#guard(() =>
      this.#statements.idsByPrefix.all({ prefix }).map((row) => row.id),
    );
    if (ids.length === 0 || prefix === '') throw unknownRun(prefix);
    if (ids.length > 1 && !ids.includes(prefix)) {
      throw inputError('RUN_AMBIGUOUS', `several run ids start with "${prefix}"`, {
        next: `Give more characters of one of: ${ids.slice(0, 5).join(', ')}.`,
      });
    }
    return ids.includes(prefix) ? prefix : ids[0]!;
  }

  /** Whether another process has committed anything since the last call. */
  changedElsewhere(): boolean {
    return this.#guard(() => {
      const version = this.#database.pragma('data_version', { simple: true }) as number;
      const changed = version !== this.#dataVersion;
      this.#dataVersion = version;
      return changed;
    });
  }

  /** The first records of a range, by iteration and rank: as many as were asked for and fit. */
  iterations(id: string, range: IterationRange, most: number): IterationPiece {
    return this.#read(() => this.#reader.piece(this.#row(id), range, most));
  }

  /**
   * Bins of a run for a chart. A run whose levels lag behind (of an older version) gets some of
   * them instead, and the piece is empty: the next one is asked for at the same place.
   */
  bins(id: string, query: BinsQuery): BinsPiece {
    const hasMore = this.#raise(id);
    return this.#read(() => {
      const row = this.#row(id);
      const { levels } = this.#archive;
      const lastSequence = row.last_sequence;
      const { from, to } = query;
      if (hasMore) return { starts: [], cells: [], lastSequence, next: from };
      const first = this.#archive.reachFrom(row.number, from) ?? to;
      const end = Math.min(to, Math.max(from, first) + levels.span(row, query));
      const bins = levels.bins(row, { ...query, to: end });
      return { ...bins.plain(), lastSequence, ...(end < to ? { next: end } : {}) };
    });
  }

  /** A page of a run's records of all kinds after a sequence, in the journal's order. */
  entriesAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#read(() => this.#page(this.#row(id).number, after));
  }

  /** A page of a run's merged log after a sequence, in the order of arrival. */
  logAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#guard(() =>
      entriesOf(this.#statements.logAfter.all({ run: this.#row(id).number, after })),
    );
  }

  /** A page of a run's events after a sequence. */
  eventsAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#guard(() =>
      entriesOf(
        this.#statements.eventsAfter.all({
          run: this.#row(id).number,
          after,
          limit: PAGE,
        }),
      ),
    );
  }

  /** A page of the lines that its ranks printed after a sequence. */
  logLinesAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#guard(() =>
      entriesOf(
        this.#statements.logLinesAfter.all({ run: this.#row(id).number, after }),
      ),
    );
  }

  /** Evaluations after iterations with from ≤ iteration < to, in their order. */
  evaluations(id: string, from: number, to: number): readonly EvaluationRecord[] {
    return this.#guard(() =>
      this.#statements.evaluations
        .all({ run: this.#row(id).number, from, to })
        .map(({ record }) => JSON.parse(record) as EvaluationRecord),
    );
  }

  /**
   * All iteration records by iteration and rank, a page at a time, so that others can
   * use the database between two pages and only one page is in memory.
   */
  *allIterations(id: string): Generator<IterationRecord> {
    let place: IterationPlace | undefined = { from: 0 };
    while (place !== undefined) {
      const range = { ...place, to: Infinity };
      const { entries, next }: IterationPiece = this.iterations(id, range, PAGE);
      for (const { record } of entries) yield record;
      place = next;
    }
  }

  setDeleted(id: string, deleted: boolean): void {
    this.space.freeing(() => {
      const row = this.#row(id);
      if (deleted && !hasEnded(row.state)) {
        throw inputError('RUN_NOT_ENDED', `run ${id} is still in progress`, {
          next: 'Stop it first.',
        });
      }
      this.#statements.setDeleted.run(deleted ? 1 : 0, row.number);
    });
  }

  /**
   * Takes a deleted run out of the history for good; `space.clear` then frees its space.
   * @throws GradwireError `RUN_UNKNOWN`, and as `HistorySpace.purge` does
   */
  purge(id: string): void {
    const row = this.#guard(() => this.#row(id));
    if (this.readOnly !== undefined) throw this.readOnly;
    this.space.purge(row);
  }

  #after(row: RunRow, seen: number): readonly JournalEntry[] {
    const entries: JournalEntry[] = [];
    let after = seen;
    while (after < row.last_sequence) {
      const page = this.#page(row.number, after);
      if (page.length === 0) break;
      after = page.at(-1)!.sequence;
      entries.push(...page);
    }
    return entries;
  }

  #journal(row: RunRow, node = nodesOf(storedSpec(row))[0]!): JournalRow {
    const journal = this.#statements.journal.get(row.number, node);
    if (journal !== undefined) return journal;
    throw failure(
      'RECORD_INVALID',
      `run ${row.id} has no ranks on the machine "${node}"`,
      {
        next: 'Use the same version of Gradwire everywhere. If you already do, report this as a bug.',
      },
    );
  }

  #page(run: number, after: number): readonly JournalEntry[] {
    const others = this.#statements.logAfter.all({ run, after }).map(entryOf);
    const iterations = this.#reader.after(run, after, PAGE);
    return [...others, ...iterations]
      .sort((a, b) => a.sequence - b.sequence)
      .slice(0, PAGE);
  }

  get #tables(): RecordTables {
    return {
      statements: this.#statements,
      archive: this.#archive,
      reader: this.#reader,
    };
  }

  /**
   * Seals blocks of a run and makes its levels for a moment.
   * @returns whether there is more to do, and it could be done
   */
  #raise(id: string): boolean {
    if (this.readOnly !== undefined) return false;
    const end = performance.now() + RAISE_MS;
    const step = (): boolean => {
      const row = this.#row(id);
      const run = { ...row, hasEnded: hasEnded(row.state) };
      const bytes = this.#archive.catchUp(run);
      if (bytes !== undefined) this.#statements.addBytes.run(bytes, row.number);
      return bytes !== undefined;
    };
    const { number, ranks, state } = this.#guard(() => this.#row(id));
    const run = { number, ranks, hasEnded: hasEnded(state) };
    if (!this.#guard(() => this.#archive.isBehind(run))) return false;
    try {
      while (this.#guard(() => this.#database.transaction(step).immediate())) {
        if (performance.now() > end) return true;
      }
    } catch (error) {
      // A full disk or a lock: bins are made of records then, which takes longer.
      const isExpected =
        error instanceof GradwireError && error.code.startsWith('DATABASE_');
      if (!isExpected) throw error;
    }
    return false;
  }

  /** Moves records that are due into blocks; belongs into a transaction. */
  #seal(run: SealedRun): void {
    for (let blocks = 0; blocks < MOST_SEALED; blocks++) {
      const saved = this.#archive.seal(run);
      if (saved === undefined) return;
      this.#statements.addBytes.run(-saved, run.number);
    }
  }

  /** Several reads of the same moment. */
  #read<T>(action: () => T): T {
    return this.#guard(() => this.#database.transaction(action)());
  }

  #row(id: string): RunRow {
    const row = this.#statements.runById.get(id);
    if (row !== undefined) return row;
    throw this.space.isPurged(id) ? purgedRun(id) : unknownRun(id);
  }

  #guard<T>(action: () => T): T {
    if (!this.#database.open) {
      throw failure('DATABASE_CLOSED', `${this.#file} has been closed`);
    }
    try {
      return action();
    } catch (thrown) {
      const error = databaseError(thrown, this.#file);
      const isRefused = toErrorData(error).code === 'DATABASE_WRITE_FAILED';
      throw isRefused ? (this.readOnly ?? error) : error;
    }
  }
}

const idOf = ({ id }: RunRow): string => id;

const purgedRun = (id: string): Error =>
  inputError('RUN_PURGED', `run ${id} was deleted for good`, {
    next: 'Its records are no longer on this computer.',
  });

function unknownRun(id: string): Error {
  return inputError('RUN_UNKNOWN', `there is no run "${id}"`, {
    next: 'List runs with: gradwire runs list.',
  });
}
