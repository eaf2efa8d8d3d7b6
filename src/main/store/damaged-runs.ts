/**
 * Rows of runs in progress that cannot be read. Their runs cannot be followed, and so neither
 * stopped nor deleted, until the row is written anew from what a supervisor knows of the run, or
 * the run has ended because nobody has it.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { ExperimentSpec } from '../../shared/spec/experiment-spec.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { summaryOf, type RunRow } from './run-row.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements } from './statements.ts';
import { isInvalidRow } from './stored-json.ts';

export class DamagedRuns {
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #rows: RunRows;

  constructor(database: GuardedDatabase, statements: Statements, rows: RunRows) {
    this.#database = database;
    this.#statements = statements;
    this.#rows = rows;
  }

  /** Returns the ids of runs that have not ended and whose rows cannot be read. */
  unended(): readonly string[] {
    return this.#database.guard(() =>
      this.#statements.unendedRuns
        .all()
        .filter((row) => !isLegible(row))
        .map(({ id }) => id),
    );
  }

  /** Returns the nodes with ranks of a run, by its journals, which say so as well as its spec. */
  nodesOf(id: string): readonly string[] {
    return this.#database.guard(() =>
      this.#statements.journals.all(this.#rows.row(id).number).map(({ node }) => node),
    );
  }

  /** Writes the columns that cannot be read anew, with the spec that a supervisor has. */
  mend(id: string, spec: ExperimentSpec): void {
    this.#database.write(() => {
      const row = this.#rows.row(id);
      const fresh: Partial<RunRow> = {
        spec: JSON.stringify(spec),
        switches: '[]',
        methods: JSON.stringify([spec.exchange.method]),
        error: null,
        metric_kind: null,
        alerts: null,
      };
      let mended = row;
      // A column is tested beside fresh values of all others: one that can be read stays.
      for (const [column, value] of Object.entries(fresh)) {
        if (isLegible({ ...mended, ...others(fresh, column) })) continue;
        mended = { ...mended, [column]: value };
      }
      this.#statements.mendRun.run(mended);
    });
  }

  /** Ends a run that nobody has. */
  fail(id: string, error: ErrorData, at: number): void {
    this.#database.guard(() => {
      this.#statements.failRun.run(JSON.stringify(error), at, id);
    });
  }
}

/** Fresh columns without one of them. */
const others = (fresh: Partial<RunRow>, column: string): Partial<RunRow> =>
  Object.fromEntries(Object.entries(fresh).filter(([name]) => name !== column));

function isLegible(row: RunRow): boolean {
  try {
    JSON.parse(row.switches);
    summaryOf(row);
    return true;
  } catch (error) {
    if (isInvalidRow(error) || error instanceof SyntaxError) return false;
    throw error;
  }
}
