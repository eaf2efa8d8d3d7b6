/**
 * SQLite's errors as coded errors. Only external causes are translated (damage, a full
 * disk, a lock); a failed constraint or invalid SQL is our own defect and is passed on
 * unchanged.
 */
import Database from 'better-sqlite3';
import { failure } from '../../shared/errors.ts';

/** The error to throw instead of a database call's error. */
export function databaseError(thrown: unknown, file: string): unknown {
  if (!(thrown instanceof Database.SqliteError)) return thrown;
  const primary = thrown.code.split('_').slice(0, 2).join('_');
  const detail = `${file}: ${thrown.message} (${thrown.code})`;
  switch (primary) {
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return failure('DATABASE_CORRUPT', `the run history is damaged: ${detail}`, {
        next: 'Move that file away to start with an empty history; nothing else uses it.',
      });
    case 'SQLITE_FULL':
    case 'SQLITE_IOERR':
      return failure('DATABASE_WRITE_FAILED', `cannot write ${detail}`, {
        next: 'Free space on that disk. Runs in progress continue and are stored later.',
      });
    case 'SQLITE_READONLY':
      return failure('DATABASE_WRITE_FAILED', `may not write ${detail}`, {
        next: 'Check the owner and the permissions of the file and its directory, and that their file system is not mounted read-only. Runs in progress continue and are stored later.',
      });
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_PERM':
      return failure('DATABASE_UNREADABLE', `cannot open ${detail}`, {
        next: 'Check that you may read and write the file and its directory.',
      });
    case 'SQLITE_BUSY':
    case 'SQLITE_LOCKED':
      return failure('DATABASE_BUSY', `another process holds ${detail}`, {
        next: 'Close other programs that have the file open, then try again.',
      });
    default:
      return thrown;
  }
}
