/**
 * Runs that were recorded as failed without the word of their machines, until a machine is
 * seen to have them after all.
 */
import type { ErrorData } from '../../shared/errors/errors.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import { summaryOf } from './run-row.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements } from './statements.ts';

/**
 * Errors of runs whose machines were not asked, or did not answer: a run may still be there
 * when its machine is seen again.
 */
const PRESUMPTIONS: readonly string[] = ['NODE_REMOVED', 'RUN_LOST'];

/** Whether a run that failed so may still be reopened. */
export const isPresumption = ({ code }: Pick<ErrorData, 'code'>): boolean =>
  PRESUMPTIONS.includes(code);

export class PresumedRuns {
  readonly #database: GuardedDatabase;
  readonly #statements: Statements;
  readonly #rows: RunRows;

  constructor(database: GuardedDatabase, statements: Statements, rows: RunRows) {
    this.#database = database;
    this.#statements = statements;
    this.#rows = rows;
  }

  /** Whether the run was recorded as failed without the word of its machines. */
  has(id: string): boolean {
    const { state, error } = this.#database.guard(() => summaryOf(this.#rows.row(id)));
    return state === 'failed' && error !== undefined && isPresumption(error);
  }

  /**
   * Corrects a run that was presumed lost: a machine has it. Does nothing to other runs.
   * @returns whether it was corrected
   */
  reopen(id: string): boolean {
    const codes = JSON.stringify(PRESUMPTIONS);
    return this.#database.guard(
      () => this.#statements.reopenRun.run({ id, codes }).changes > 0,
    );
  }
}
