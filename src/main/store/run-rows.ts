/** The rows of runs by their ids. */
import { inputError } from '../../shared/errors/errors.ts';
import type { HistorySpace } from './history-space.ts';
import type { RunRow } from './run-row.ts';
import type { Statements } from './statements.ts';

export class RunRows {
  readonly #statements: Statements;
  readonly #space: HistorySpace;

  constructor(statements: Statements, space: HistorySpace) {
    this.#statements = statements;
    this.#space = space;
  }

  /** @throws GradwireError `RUN_UNKNOWN`, `RUN_PURGED` */
  row(id: string): RunRow {
    const row = this.#statements.runById.get(id);
    if (row !== undefined) return row;
    throw this.#space.isPurged(id) ? purgedRun(id) : unknownRun(id);
  }
}

const purgedRun = (id: string): Error =>
  inputError('RUN_PURGED', `run ${id} was deleted for good`, {
    next: 'Its records are no longer on this computer.',
  });

export function unknownRun(id: string): Error {
  return inputError('RUN_UNKNOWN', `there is no run "${id}"`, {
    next: 'List runs with: gradwire runs list.',
  });
}
