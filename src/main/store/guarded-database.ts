/** The database of a home, with one place for its errors and one for its transactions. */
import type Database from 'better-sqlite3';
import {
  failure,
  toErrorData,
  type GradwireError,
} from '../../shared/errors/errors.ts';
import { databaseError } from './database-error.ts';
import type { OpenedDatabase } from './database.ts';

export class GuardedDatabase {
  readonly file: string;
  /** Set if nothing can be stored: why, and what to do. */
  readonly readOnly: GradwireError | undefined;
  readonly #database: Database.Database;

  constructor(file: string, { database, readOnly }: OpenedDatabase) {
    this.file = file;
    this.#database = database;
    this.readOnly = readOnly;
  }

  close(): void {
    this.#database.close();
  }

  /** Runs one statement or more, each a transaction of its own. */
  guard<T>(action: () => T): T {
    if (!this.#database.open) {
      throw failure('DATABASE_CLOSED', `${this.file} has been closed`);
    }
    try {
      return action();
    } catch (thrown) {
      const error = databaseError(thrown, this.file);
      const isRefused = toErrorData(error).code === 'DATABASE_WRITE_FAILED';
      throw isRefused ? (this.readOnly ?? error) : error;
    }
  }

  /** Reads several times at the same moment. */
  read<T>(action: () => T): T {
    return this.guard(() => this.#database.transaction(action)());
  }

  /** Writes all or nothing. Other writers wait from the beginning. */
  write<T>(action: () => T): T {
    return this.guard(() => this.#database.transaction(action).immediate());
  }

  /** A number that changes with every commit of another process. */
  dataVersion(): number {
    return this.guard(
      () => this.#database.pragma('data_version', { simple: true }) as number,
    );
  }
}
