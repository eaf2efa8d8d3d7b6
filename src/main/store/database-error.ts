/**
 * SQLite's errors as coded errors. Only external causes are translated (damage, a full
 * disk, a lock, rows that no version wrote so); a failed constraint or invalid SQL is our own defect and is passed on
 * unchanged.
 */
import Database from 'better-sqlite3';
import { z } from 'zod';
import { failure } from '../../shared/errors/errors.ts';
import { plainIssue } from '../../shared/checks/plain-issue.ts';
import { invalidRow } from './stored-json.ts';

/** The error to throw instead of a database call's error. */
export function databaseError(thrown: unknown, file: string): unknown {
  // Rows are read as JSON, and by schemas.
  if (thrown instanceof SyntaxError) return damaged(file, thrown.message);
  if (thrown instanceof z.ZodError) return damaged(file, plainIssue(thrown.issues[0]!));
  if (!(thrown instanceof Database.SqliteError)) return thrown;
  if (thrown.message === 'malformed JSON') return damaged(file, 'it is not JSON');
  const primary = thrown.code.split('_').slice(0, 2).join('_');
  const detail = `${file}: ${thrown.message} (${thrown.code})`;
  switch (primary) {
    case 'SQLITE_CORRUPT':
    case 'SQLITE_NOTADB':
      return failure('DATABASE_CORRUPT', `the run history is damaged: ${detail}`, {
        next: 'Move that file away to start with an empty history; nothing else uses it.',
      });
    case 'SQLITE_IOERR':
      return failure('DATABASE_WRITE_FAILED', `cannot write ${detail}`, {
        next: 'Free space on that disk; if it has some, raise the limit of a file’s size (ulimit -f), and look at the log of the system. Runs in progress continue and are stored later.',
      });
    case 'SQLITE_FULL':
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

const damaged = (file: string, why: string): Error =>
  invalidRow(`${file}: ${why}`, 'Restore the file from a copy, or move it away.');
