/** Soft deletion of runs, which frees space later, and its undo. */
import {
  GradwireError,
  inputError,
  type ErrorData,
} from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import type { GuardedDatabase } from './guarded-database.ts';
import type { HistorySpace } from './history-space.ts';
import type { RunRows } from './run-rows.ts';
import type { Statements } from './statements.ts';

export interface DeletionSources {
  readonly database: GuardedDatabase;
  readonly statements: Statements;
  readonly rows: RunRows;
  readonly space: HistorySpace;
}

export class Deletions {
  readonly #sources: DeletionSources;

  constructor(sources: DeletionSources) {
    this.#sources = sources;
  }

  /** @throws GradwireError `RUN_NOT_ENDED`, `RUN_UNKNOWN` */
  set(id: string, deleted: boolean): void {
    const { database, space } = this.#sources;
    space.freeing(() => {
      database.write(() => {
        this.#set(id, deleted);
      });
    });
  }

  /** Deletes or restores all runs that can be, in one transaction. */
  setAll(
    ids: readonly string[],
    deleted: boolean,
  ): { readonly changed: readonly string[]; readonly refused: readonly ErrorData[] } {
    const { database, space } = this.#sources;
    return space.freeing(() =>
      database.write(() => {
        const refused: ErrorData[] = [];
        const changed = [...new Set(ids)].filter((id) => {
          try {
            this.#set(id, deleted);
            return true;
          } catch (error) {
            if (!(error instanceof GradwireError) || error.kind !== 'input')
              throw error;
            refused.push(error.toData());
            return false;
          }
        });
        return { changed, refused };
      }),
    );
  }

  /**
   * Deletes or restores a run. Belongs into a transaction: another process may purge, end or
   * reopen the run meanwhile.
   */
  #set(id: string, deleted: boolean): void {
    const row = this.#sources.rows.row(id);
    if (deleted && !hasEnded(row.state)) {
      throw inputError('RUN_NOT_ENDED', `run ${id} is still in progress`, {
        next: 'Stop it first.',
      });
    }
    this.#sources.statements.setDeleted.run(deleted ? 1 : 0, row.number);
  }
}
