/**
 * A lock that is released when its process ends, in any way: an exclusive transaction on
 * an otherwise empty SQLite file. It cannot become stale, and a recycled process id
 * cannot look like a holder.
 */
import { closeSync, openSync } from 'node:fs';
import Database from 'better-sqlite3';

export interface FileLock {
  /** Whether it is still held. */
  readonly open: boolean;
  close(): void;
}

/**
 * @param patience ms to wait for another process that is only checking it
 * @returns undefined if another process, or this one, holds it
 * @throws if the file cannot be opened or created
 */
export function tryLock(file: string, patience: number): FileLock | undefined {
  let database: Database.Database | undefined;
  try {
    // Made here, because the library takes the mode from the umask.
    closeSync(openSync(file, 'a', 0o600));
    database = new Database(file, { timeout: patience });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      return undefined;
    }
    throw error;
  }
}
