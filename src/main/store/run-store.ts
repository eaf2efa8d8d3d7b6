/**
 * The run store: every run and its records. Each node of a run has a journal; appending is
 * idempotent by (run, node, sequence), so records that are delivered again, or to two
 * processes at once, are stored once. Stored records get the run's own sequence numbers,
 * in the order of arrival; with one node these are the journal's. The run's summary is
 * updated in the same transaction. A record that cannot be stored fails its run but does
 * not hold up later ones (`record-writer.ts`).
 */
import type Database from 'better-sqlite3';
import { failure, inputError, type ErrorData } from '../../shared/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type {
  IterationRecord,
  JournalEntry,
  LogRecord,
  RunEvent,
  RunRecord,
} from '../../shared/records.ts';
import { hasEnded, type RunDetail, type RunSummary } from '../../shared/rpc.ts';
import { databaseError } from './database-error.ts';
import { openDatabase } from './database.ts';
import { FactTable } from './fact-table.ts';
import { LinkTable } from './link-table.ts';
import { NodeTable } from './node-table.ts';
import { endingOf, writeEnd, writeRecords } from './record-writer.ts';
import {
  summaryOf,
  type JournalRow,
  type MissingJournal,
  type RunRow,
} from './run-row.ts';
import { prepareStatements, type Statements } from './statements.ts';

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

/** Where entries come from, and how much of their run the caller has seen. */
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
  /** Why one of them could not be stored; then the run ends as failed. */
  readonly refusal: ErrorData | undefined;
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

export class RunStore {
  /** The inventory of machines. */
  readonly nodes: NodeTable;
  /** The measured links between them. */
  readonly links: LinkTable;
  /** What was last found out about them. */
  readonly facts: FactTable;
  readonly #file: string;
  readonly #database: Database.Database;
  readonly #statements: Statements;
  #dataVersion: number | undefined;

  private constructor(file: string, database: Database.Database) {
    this.#file = file;
    this.#database = database;
    this.#statements = prepareStatements(database);
    this.nodes = new NodeTable(database, file);
    this.links = new LinkTable(database, file);
    this.facts = new FactTable(database, file);
  }

  /** @throws GradwireError as `openDatabase` does */
  static open(file: string): RunStore {
    const database = openDatabase(file);
    try {
      return new RunStore(file, database);
    } catch (thrown) {
      database.close();
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
    return this.#guard(() => this.#database.transaction(create).immediate());
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
    const append = (): StoredBatch => {
      const row = this.#row(id);
      const journal = this.#journal(row, node);
      const fresh = entries.filter((entry) => entry.sequence > journal.last_sequence);
      const missed = this.#after(row, seen ?? row.last_sequence);
      if (fresh.length === 0) {
        return { summary: summaryOf(row), entries: missed, refusal: undefined };
      }
      const written = writeRecords(this.#statements, row, journal, fresh);
      return {
        summary: this.summary(id),
        entries: [...missed, ...written.entries],
        refusal: written.refusal,
      };
    };
    return this.#guard(() => this.#database.transaction(append).immediate());
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

  /** Which journals of the run have ended, how, and which have not. */
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

  /** How far a node's journal is stored. */
  journalPosition(id: string, node: string): number {
    return this.#guard(() => this.#journal(this.#row(id), node).last_sequence);
  }

  spec(id: string): ExperimentSpec {
    return this.#guard(() => JSON.parse(this.#row(id).spec) as ExperimentSpec);
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
          spec: JSON.parse(row.spec) as ExperimentSpec,
          events: this.#statements.events
            .all(row.number)
            .map(({ record }) => JSON.parse(record) as RunEvent),
          lastSequence: row.last_sequence,
        };
      })(),
    );
  }

  /** Newest first. */
  list(query: RunQuery = {}): readonly RunSummary[] {
    const words = (query.search ?? '').replace(/[\\%_]/g, '\\$&');
    return this.#guard(() =>
      this.#statements.listRuns
        .all({
          deleted: query.deleted === true ? 1 : 0,
          search: `%${words}%`,
          limit: query.limit ?? 100,
          offset: query.offset ?? 0,
        })
        .map(summaryOf),
    );
  }

  unended(): readonly UnendedRun[] {
    return this.#guard(() =>
      this.#statements.unendedRuns.all().map((row) => ({
        id: row.id,
        name: row.name,
        nodes: nodesOf(JSON.parse(row.spec) as ExperimentSpec),
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

  /** Iteration records with from ≤ iteration < to, every `stride`-th, by iteration, rank. */
  iterations(
    id: string,
    range: { readonly from: number; readonly to: number; readonly stride: number },
  ): readonly JournalEntry[] {
    return this.#guard(() =>
      this.#statements.iterations
        .all({ run: this.#row(id).number, ...range })
        .map(({ sequence, record }) => ({
          sequence,
          record: JSON.parse(record) as RunRecord,
        })),
    );
  }

  /** A page of a run's records of all kinds after a sequence, in the journal's order. */
  entriesAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#guard(() => this.#page(this.#row(id).number, after));
  }

  /** A page of a run's merged log after a sequence, in the order of arrival. */
  logAfter(id: string, after: number): readonly JournalEntry[] {
    return this.#guard(() =>
      this.#statements.logAfter
        .all({ run: this.#row(id).number, after })
        .map(({ sequence, record }) => ({
          sequence,
          record: JSON.parse(record) as RunRecord,
        })),
    );
  }

  /** All lines that its ranks printed, in the order of arrival, in pages as below. */
  *logLines(id: string): Generator<LogRecord> {
    let after = 0;
    for (;;) {
      const page = this.logAfter(id, after);
      if (page.length === 0) return;
      for (const { record } of page) if (record.type === 'log') yield record;
      after = page.at(-1)!.sequence;
    }
  }

  /**
   * All iteration records by iteration and rank, a page at a time, so that others can
   * use the database between two pages and only one page is in memory.
   */
  *allIterations(id: string): Generator<IterationRecord> {
    const run = this.#guard(() => this.#row(id).number);
    let iteration = -1;
    let rank = -1;
    for (;;) {
      const page = this.#guard(() =>
        this.#statements.iterationsAfter.all({ run, iteration, rank }),
      );
      if (page.length === 0) return;
      for (const { record } of page) yield JSON.parse(record) as IterationRecord;
      ({ iteration, rank } = page.at(-1)!);
    }
  }

  setDeleted(id: string, deleted: boolean): RunSummary {
    return this.#guard(() => {
      const row = this.#row(id);
      if (deleted && !hasEnded(row.state)) {
        throw inputError('RUN_NOT_ENDED', `run ${id} is still in progress`, {
          next: 'Stop it first.',
        });
      }
      this.#statements.setDeleted.run(deleted ? 1 : 0, row.number);
      return this.summary(id);
    });
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

  #journal(
    row: RunRow,
    node = nodesOf(JSON.parse(row.spec) as ExperimentSpec)[0]!,
  ): JournalRow {
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
    return this.#statements.entriesAfter
      .all({ run, after })
      .map(({ sequence, record }) => ({
        sequence,
        record: JSON.parse(record) as RunRecord,
      }));
  }

  #row(id: string): RunRow {
    const row = this.#statements.runById.get(id);
    if (row === undefined) throw unknownRun(id);
    return row;
  }

  #guard<T>(action: () => T): T {
    if (!this.#database.open) {
      throw failure('DATABASE_CLOSED', `${this.#file} has been closed`);
    }
    try {
      return action();
    } catch (thrown) {
      throw databaseError(thrown, this.#file);
    }
  }
}

function unknownRun(id: string): Error {
  return inputError('RUN_UNKNOWN', `there is no run "${id}"`, {
    next: 'List runs with: gradwire runs list.',
  });
}
