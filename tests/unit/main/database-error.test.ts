import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { databaseError } from '../../../src/main/store/database-error.ts';

test.each([
  ['SQLITE_FULL', /^Free space on that disk\./],
  // Which is also what a limit of a file's size looks like.
  ['SQLITE_IOERR_WRITE', /ulimit -f/],
])('%s has a next step that fits', (code, next) => {
  const error = databaseError(new Database.SqliteError('disk', code), 'gradwire.db');
  expect(error).toMatchObject({
    code: 'DATABASE_WRITE_FAILED',
    next: expect.stringMatching(next) as unknown,
  });
});
