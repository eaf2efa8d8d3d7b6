/**
 * The run store: every run and its records, in one database. Here runs are created, failed and read as
 * a whole; each other part of it has a class of its own.
 */
import { type ErrorData, type GradwireError } from '../../shared/errors/errors.ts';
import { nodesOf, type ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { SwitchRequest } from '../../shared/protocol/supervisor.ts';
import type { RunSummary } from '../../shared/rpc/run-summary.ts';
import { Annotations } from './annotations.ts';
import { BucketReads } from './bucket-reads.ts';
import { DamagedRuns } from './damaged-runs.ts';
import { databaseError } from './database-error.ts';
import { openDatabase, type HistoryUse, type OpenedDatabase } from './database.ts';
import { Deletions } from './deletions.ts';
import { DiskReserve } from './disk-reserve.ts';
import { FactTable } from './fact-table.ts';
import { GuardedDatabase } from './guarded-database.ts';
import { HistorySpace } from './history-space.ts';
import { IterationArchive } from './iteration-archive.ts';
import { IterationReader } from './iteration-reader.ts';
import { LinkTable } from './link-table.ts';
import { NodeTable } from './node-table.ts';
import { isPresumption, PresumedRuns } from './presumed-runs.ts';
import { prepareChanges } from './event-changes.ts';
import { OwnRecords } from './own-records.ts';
import { prepareWrites, RecordWriter } from './record-writer.ts';
import { RunJournals } from './run-journals.ts';
import { RunAlerts } from './run-alerts.ts';
import { RunList } from './run-list.ts';
import { RunReads } from './run-reads.ts';
import { TraceReads } from './trace-reads.ts';
import { SettingTable } from './setting-table.ts';
import { summaryOf } from './run-row.ts';
import { RunRows } from './run-rows.ts';
import { prepareStatements, type Statements } from './statements.ts';
import { storedSpec } from './stored-json.ts';
import { SweepTable, type QueuedRun } from './sweep-table.ts';
import { UtilisationReads } from './utilisation-reads.ts';

/** A place in the queue of a sweep, and the process that drives it. */
export interface SweepPlace extends Pick<QueuedRun, 'number' | 'sweep'> {
  readonly driver: string;
}

export interface NewRun {
  readonly id: string;
  readonly spec: ExperimentSpec;
  readonly switches: readonly SwitchRequest[];
  readonly createdAt: number;
  /** The process that will start it; absent if a supervisor already runs it. */
  readonly launcher?: string | undefined;
  /** The run of a sweep that it is. */
  readonly sweep?: SweepPlace | undefined;
}

export class RunStore {
  /** The inventory of machines. */
  readonly nodes: NodeTable;
  /** The measured links between them. */
  readonly links: LinkTable;
  /** Facts that were last found out about the machines. */
  readonly facts: FactTable;
  /** The space that all of it takes. */
  readonly space: HistorySpace;
  /** The runs that there are. */
  readonly runs: RunList;
  /** Titles, tags and notes of runs. */
  readonly annotations: Annotations;
  /** Sweeps, and their queues of runs. */
  readonly sweeps: SweepTable;
  /** Soft deletion of runs, and its undo. */
  readonly deletions: Deletions;
  /** Runs in progress whose rows cannot be read. */
  readonly damaged: DamagedRuns;
  /** The journals of runs' nodes. */
  readonly journals: RunJournals;
  /** Runs that are presumed lost. */
  readonly presumed: PresumedRuns;
  /** The settings of the home. */
  readonly settings: SettingTable;
  /** The alert rules over runs. */
  readonly alerts: RunAlerts;
  /** Stores records from the journals of runs. */
  readonly records: RecordWriter;
  /** Stores records that this process makes of runs. */
  readonly ownRecords: OwnRecords;
  /** Reads one run. */
  readonly reads: RunReads;
  /** Reads the traces of its iterations. */
  readonly traces: TraceReads;
  /** Reads what its buckets cost. */
  readonly buckets: BucketReads;
  /** Reads what its machines did. */
  readonly utilisation: UtilisationReads;
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #rows: RunRows;
  readonly #reserve: DiskReserve;
  #dataVersion: number | undefined;

  private constructor(file: string, opened: OpenedDatabase, reserve: DiskReserve) {
    const { database } = opened;
    this.#database = new GuardedDatabase(file, opened);
    this.#statements = prepareStatements(database);
    const archive = new IterationArchive(database);
    const reader = new IterationReader(database, archive);
    this.nodes = new NodeTable(database, file);
    this.links = new LinkTable(database, file);
    this.facts = new FactTable(database, file);
    this.#reserve = reserve;
    this.space = new HistorySpace(database, reserve, file, archive);
    this.#rows = new RunRows(this.#statements, this.space);
    const sources = {
      database: this.#database,
      statements: this.#statements,
      rows: this.#rows,
    };
    this.runs = new RunList(this.#database, database, this.#statements);
    this.annotations = new Annotations(this.#database, database, this.#rows);
    this.sweeps = new SweepTable(this.#database, database);
    this.deletions = new Deletions({ ...sources, space: this.space });
    this.damaged = new DamagedRuns(this.#database, this.#statements, this.#rows);
    const sql = prepareWrites(database);
    this.journals = new RunJournals({ ...sources, setJournal: sql.setJournal });
    this.presumed = new PresumedRuns(this.#database, this.#statements, this.#rows);
    this.settings = new SettingTable(this.#database, database);
    this.alerts = new RunAlerts(database, this.settings);
    const blocks = { archive, reader };
    const tables = {
      alerts: this.alerts,
      statements: this.#statements,
      sql,
      changes: prepareChanges(database),
      ...blocks,
    };
    this.reads = new RunReads({ ...sources, ...blocks });
    const { journals, reads } = this;
    this.records = new RecordWriter({ ...sources, journals, reads, tables });
    this.ownRecords = new OwnRecords({ ...sources, reads, tables });
    this.traces = new TraceReads(sources);
    this.buckets = new BucketReads(sources);
    this.utilisation = new UtilisationReads(sources);
  }

  /** The database's file. */
  get file(): string {
    return this.#database.file;
  }

  /** Set if nothing can be stored: why, and what to do. */
  get readOnly(): GradwireError | undefined {
    return this.#database.readOnly;
  }

  /** @throws GradwireError as `openDatabase` does */
  static open(file: string, use?: HistoryUse): RunStore {
    const reserve = new DiskReserve(file);
    const opened = openDatabase(file, use, reserve);
    try {
      return new RunStore(file, opened, reserve);
    } catch (thrown) {
      opened.database.close();
      reserve.restore();
      throw databaseError(thrown, file);
    }
  }

  close(): void {
    this.#database.close();
    this.#reserve.restore();
  }

  create(run: NewRun): RunSummary {
    const create = (): RunSummary => {
      const number = this.#statements.nextRun();
      this.#statements.createRun.run({
        number,
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
        this.#statements.createJournal.run(number, node);
      }
      if (run.sweep !== undefined) {
        this.sweeps.launched(run.sweep, number, run.sweep.driver);
      }
      return this.summary(run.id);
    };
    const summary = this.#database.write(create);
    this.space.keepReserve();
    return summary;
  }

  /** Ends a run that no record will end; does not change an ended run. */
  fail(id: string, error: ErrorData, at: number): RunSummary {
    const { changes, summary } = this.#database.write(() => {
      const { changes } = this.#statements.failRun.run(JSON.stringify(error), at, id);
      // The rules go on where they were if it is reopened.
      const isOver = changes > 0 && !isPresumption(error);
      if (isOver) this.alerts.forget(this.#rows.row(id).number);
      return { changes, summary: this.summary(id) };
    });
    if (changes > 0) this.alerts.tellFailure(summary, at, error);
    return summary;
  }

  /** @throws GradwireError `RUN_UNKNOWN` */
  summary(id: string): RunSummary {
    return this.#database.guard(() => summaryOf(this.#rows.row(id)));
  }

  has(id: string): boolean {
    return this.#database.guard(() => this.#statements.runById.get(id) !== undefined);
  }

  /** The last of the run's own sequence numbers. */
  lastSequence(id: string): number {
    return this.#database.guard(() => this.#rows.row(id).last_sequence);
  }

  spec(id: string): ExperimentSpec {
    return this.#database.guard(() => storedSpec(this.#rows.row(id)));
  }

  /** The switches requested when the run was launched. */
  switches(id: string): readonly SwitchRequest[] {
    return this.#database.guard(
      () => JSON.parse(this.#rows.row(id).switches) as SwitchRequest[],
    );
  }

  /** Whether another process has committed anything since the last call. */
  changedElsewhere(): boolean {
    const version = this.#database.dataVersion();
    const changed = version !== this.#dataVersion;
    this.#dataVersion = version;
    return changed;
  }

  setDeleted(id: string, deleted: boolean): void {
    this.deletions.set(id, deleted);
  }

  /**
   * Takes a deleted run out of the history for good; `space.clear` then frees its space.
   * @throws GradwireError `RUN_UNKNOWN`, and as `HistorySpace.purge` does
   */
  purge(id: string): void {
    if (this.readOnly !== undefined) throw this.readOnly;
    this.#database.guard(() => {
      this.space.purge(() => this.#rows.row(id));
    });
  }
}
