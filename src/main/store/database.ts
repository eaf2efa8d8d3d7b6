/**
 * Opens the database: write-ahead log, foreign keys, full synchronisation (a record is
 * acknowledged once it is committed, so a commit must survive a power cut) and
 * migrations by `user_version`. Several processes may have it open: the app and any
 * number of commands. On a network file system they may be on several machines, which share
 * no memory; the write-ahead log needs shared memory, so a rollback journal takes its place.
 */
import path from 'node:path';
import Database from 'better-sqlite3';
import { failure } from '../../shared/errors.ts';
import { databaseError } from './database-error.ts';
import { isOnNetwork } from './network-file-system.ts';
import { runsMigration } from './migrations/001-runs.ts';
import { journalsMigration } from './migrations/002-journals.ts';
import { nodesMigration } from './migrations/003-nodes.ts';
import { linksMigration } from './migrations/004-links.ts';
import { logLinesMigration } from './migrations/005-log-lines.ts';
import { thinnedJournalsMigration } from './migrations/006-thinned-journals.ts';
import { metricKindsMigration } from './migrations/007-metric-kinds.ts';
import { nodeRenamesMigration } from './migrations/008-node-renames.ts';
import { nodeFactsMigration } from './migrations/009-node-facts.ts';
import { nodeNetworksMigration } from './migrations/010-node-networks.ts';

/** In order; a database at `user_version` n has the first n. Never edit, only add. */
const migrations: readonly string[] = [
  runsMigration,
  journalsMigration,
  nodesMigration,
  linksMigration,
  logLinesMigration,
  thinnedJournalsMigration,
  metricKindsMigration,
  nodeRenamesMigration,
  nodeFactsMigration,
  nodeNetworksMigration,
];

export const DATABASE_VERSION = migrations.length;

const BUSY_TIMEOUT_MS = 5000;

/**
 * @throws GradwireError `DATABASE_TOO_NEW`, `DATABASE_CORRUPT`, `DATABASE_UNREADABLE`,
 * `DATABASE_WRITE_FAILED`, `DATABASE_BUSY`
 */
export function openDatabase(file: string): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
    useJournal(database, isOnNetwork(path.dirname(file)) ? 'TRUNCATE' : 'WAL');
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    migrate(database, file);
    return database;
  } catch (thrown) {
    database?.close();
    throw databaseError(thrown, file);
  }
}

/**
 * SQLite ignores its busy timeout if two connections change the journal mode of a new
 * file at once; on a retry the loser finds the change made.
 */
function useJournal(database: Database.Database, mode: 'WAL' | 'TRUNCATE'): void {
  const deadline = performance.now() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      database.pragma(`journal_mode = ${mode}`);
      return;
    } catch (error) {
      const busy =
        error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!busy || performance.now() > deadline) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function migrate(database: Database.Database, file: string): void {
  const apply = database.transaction(() => {
    const version = database.pragma('user_version', { simple: true }) as number;
    if (version > DATABASE_VERSION) {
      throw failure(
        'DATABASE_TOO_NEW',
        `${file} has version ${version}; this Gradwire reads up to ${DATABASE_VERSION}`,
        { next: 'Update Gradwire, or set GRADWIRE_HOME to another directory.' },
      );
    }
    for (const migration of migrations.slice(version)) database.exec(migration);
    database.pragma(`user_version = ${DATABASE_VERSION}`);
  });
  const version = database.pragma('user_version', { simple: true }) as number;
  // Immediate: if two processes find an old database, the second waits and then sees
  // the new version.
  if (version !== DATABASE_VERSION) apply.immediate();
}
