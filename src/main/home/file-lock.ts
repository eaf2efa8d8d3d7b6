/**
 * A lock that ends with its process, however that ends: an exclusive transaction on an
 * otherwise empty SQLite file. A stale one cannot exist, and a recycled process id cannot
 * look like a holder.
 */
import Database from 'better-sqlite3';

export interface FileLock {
  /** Whether it is held still. */
  readonly open: boolean;
  close(): void;
}

/**
 * @param patience ms to wait for another process that only looks whether it is held
 * @returns undefined where another process, or this one, holds it
 * @throws where the file cannot be opened or made
 */
export function tryLock(file: string, patience: number): FileLock | undefined {
  let database: Database.Database | undefined;
  try {
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
