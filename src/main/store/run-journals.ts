/** The journals of runs' nodes, as far as they are stored: their positions and endings. */
import { failure, type ErrorData } from '../../shared/errors/errors.ts';
import { nodesOf } from '../../shared/spec/experiment-spec.ts';
import type { RunRecord } from '../../shared/records/record-kinds.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { RecordTables } from './record-writer.ts';
import { endingOf } from './run-ending.ts';
import type { JournalRow, MissingJournal, RunRow } from './run-row.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements } from './statements.ts';
import { storedSpec } from './stored-json.ts';

/** The endings of a run's journals, as far as they are stored. */
interface Endings {
  readonly someEnded: boolean;
  /** Nodes whose journals have not ended. */
  readonly open: readonly string[];
  /** The failure that the ended journals report, if any. */
  readonly failure: ErrorData | undefined;
}

interface JournalTables extends Pick<RecordTables['sql'], 'setJournal'> {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly rows: RunRows;
}

export class RunJournals {
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #rows: RunRows;
  readonly #setJournal: JournalTables['setJournal'];

  constructor({ database, rows, setJournal, statements }: JournalTables) {
    this.#database = database;
    this.#statements = statements;
    this.#rows = rows;
    this.#setJournal = setJournal;
  }

  /** Returns which journals of the run have ended, how, and which have not. */
  endings(id: string): Endings {
    return this.#database.guard(() => {
      const run = this.#rows.row(id).number;
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

  /** Whether the node's journal of the run has not ended. */
  isOpen(id: string, node: string): boolean {
    return this.endings(id).open.includes(node);
  }

  /**
   * Journals that runs have ended without. If a run failed before it began on a node,
   * there may be none there.
   */
  missing(): readonly MissingJournal[] {
    return this.#database.guard(() => this.#statements.missingJournals.all());
  }

  /**
   * The node has no more of the run's journal than is stored, so it is not read again.
   */
  close(id: string, node: string): void {
    const ending: RunRecord = { type: 'finished', at: Date.now(), node };
    this.#database.guard(() => {
      const row = this.#rows.row(id);
      const journal = { ...this.row(row, node), ending: JSON.stringify(ending) };
      this.#setJournal.run({ ...journal, run: row.number });
    });
  }

  /** Returns the last sequence that is stored of a node's journal. */
  position(id: string, node: string): number {
    return this.#database.guard(() => this.row(this.#rows.row(id), node).last_sequence);
  }

  /**
   * The row of a node's journal; default: that of the run's first node.
   * @throws GradwireError `RECORD_INVALID`: the run has no ranks there
   */
  row(run: RunRow, node = nodesOf(storedSpec(run))[0]!): JournalRow {
    const journal = this.#statements.journal.get(run.number, node);
    if (journal !== undefined) return journal;
    throw failure(
      'RECORD_INVALID',
      `run ${run.id} has no ranks on the machine "${node}"`,
      {
        next: 'Use the same version of Gradwire everywhere. If you already do, report this as a bug.',
      },
    );
  }
}
