/**
 * Opens the database: write-ahead log, foreign keys, full synchronisation (a record is
 * acknowledged once it is committed, so a commit must survive a power cut) and
 * migrations by `user_version`. Several processes may have it open: the app and any
 * number of commands. On a network file system they may be on several machines, which share
 * no memory; the write-ahead log needs shared memory, so a rollback journal takes its place.
 *
 * What is stored can be read whatever the disk is like (decision 74). SQLite shares an index
 * of the log between processes in a file (-shm), for which a full disk has no space. A brief use
 * then keeps the index in this process, which spends nothing but lets others wait; a lasting one
 * takes the index's space from the reserve until it ends. Where nothing can be written, a copy
 * elsewhere is read.
 */
import Database from 'better-sqlite3';
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../../disk/temporary-directory.ts';
import type { ErrorCode } from '../../shared/codes/error-code.ts';
import { failure, GradwireError } from '../../shared/errors/errors.ts';
import { databaseError } from './database-error.ts';
import { DiskReserve } from './disk-reserve.ts';
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
import { blocksMigration } from './migrations/011-blocks.ts';
import { runSizesMigration } from './migrations/012-run-sizes.ts';
import { eventIndicesMigration } from './migrations/013-event-indices.ts';
import { levelsMigration } from './migrations/014-levels.ts';
import { tracesMigration } from './migrations/015-traces.ts';
import { journalClocksMigration } from './migrations/016-journal-clocks.ts';
import { annotationsMigration } from './migrations/017-annotations.ts';
import { sweepsMigration } from './migrations/018-sweeps.ts';
import { alertsAndSettingsMigration } from './migrations/019-alerts-and-settings.ts';
import { bucketSumsMigration } from './migrations/020-bucket-sums.ts';
import { utilisationMigration } from './migrations/021-utilisation.ts';
import { processNamesMigration } from './migrations/022-process-names.ts';
import { lastingNumbersMigration } from './migrations/023-lasting-numbers.ts';
import { isOnNetwork } from './network-file-system.ts';

/** Migrations in order; a database at `user_version` n has the first n. Never edit, only add. */
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
  blocksMigration,
  runSizesMigration,
  eventIndicesMigration,
  levelsMigration,
  tracesMigration,
  journalClocksMigration,
  annotationsMigration,
  sweepsMigration,
  alertsAndSettingsMigration,
  bucketSumsMigration,
  utilisationMigration,
  processNamesMigration,
  lastingNumbersMigration,
];

/** SQLite's number for the mode `INCREMENTAL` of `auto_vacuum`. */
const INCREMENTAL = 2;

export const DATABASE_VERSION = migrations.length;

const BUSY_TIMEOUT_MS = 5000;
/** More than the index of the log and a first page of it. */
const OPENING_BYTES = 256 * 2 ** 10;

/**
 * The use of a history: `brief` by what reads it and soon ends, `lasting` by all others, which
 * must not keep it from other processes.
 */
export type HistoryUse = 'brief' | 'lasting';

export interface OpenedDatabase {
  readonly database: Database.Database;
  /** Set if nothing can be written: why, and what to do. */
  readonly readOnly: GradwireError | undefined;
}

/**
 * @throws GradwireError `DATABASE_TOO_NEW`, `DATABASE_CORRUPT`, `DATABASE_UNREADABLE`,
 * `DATABASE_WRITE_FAILED`, `DATABASE_BUSY`
 */
export function openDatabase(
  file: string,
  use: HistoryUse = 'lasting',
  reserve = new DiskReserve(file),
): OpenedDatabase {
  const shared = (): Database.Database => openShared(file);
  const alone = (): Database.Database => openAlone(file);
  const reserved = (): Database.Database => openReserved(file, reserve);
  const ways = use === 'brief' ? [shared, alone, reserved] : [shared, reserved, alone];
  let first: unknown;
  for (const open of ways) {
    try {
      return { database: open(), readOnly: undefined };
    } catch (thrown) {
      first ??= thrown;
      // Another process may have come first and hold it, alone or shared.
      const isBusy = thrown !== first && isCoded(thrown, 'DATABASE_BUSY');
      if (thrown !== NO_RESERVE && !isBusy && !isOfTheDisk(thrown)) break;
    }
  }
  if (!isOfTheDisk(first) || !existsSync(file)) throw first;
  const { message } = first as GradwireError;
  const readOnly = failure('DATABASE_READ_ONLY', `nothing can be stored: ${message}`, {
    next: 'Free space on that disk, or make the file and its directory writable.',
  });
  try {
    return { database: openCopy(file), readOnly };
  } catch (thrown) {
    const isDamaged = thrown instanceof GradwireError && !isOfTheDisk(thrown);
    throw isDamaged ? thrown : first;
  }
}

const NO_RESERVE = new Error('internal: no reserve');

/** Whether an error is the disk's, so that the database may be opened in another way. */
const isOfTheDisk = (error: unknown): boolean =>
  isCoded(error, 'DATABASE_WRITE_FAILED', 'DATABASE_UNREADABLE');

const isCoded = (error: unknown, ...codes: readonly ErrorCode[]): boolean =>
  error instanceof GradwireError && (codes as readonly string[]).includes(error.code);

function openShared(file: string): Database.Database {
  return opened(file, (database) => {
    // In a new file, pages that become free can be given back; an old one gets it by VACUUM. Where
    // it is set, nothing is written: others can read while one writes.
    if (database.pragma('auto_vacuum', { simple: true }) !== INCREMENTAL)
      database.pragma('auto_vacuum = INCREMENTAL');
    useJournal(database, journalOf(file));
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    migrate(database, file);
    // Now the log and its index exist, too.
    keepPrivate(file);
  });
}

/** Spends some of the reserve on the index, and makes good at once what that leaves. */
function openReserved(file: string, reserve: DiskReserve): Database.Database {
  if (!reserve.spend(OPENING_BYTES)) throw NO_RESERVE;
  try {
    return openShared(file);
  } finally {
    reserve.restore();
  }
}

/** Opens the database for this process alone: others wait or are refused while it is open. */
function openAlone(file: string): Database.Database {
  return opened(file, (database) => {
    // The index of the log is in memory if this comes before it is needed.
    database.pragma('locking_mode = EXCLUSIVE');
    useJournal(database, journalOf(file));
    database.pragma('synchronous = FULL');
    database.pragma('foreign_keys = ON');
    migrate(database, file);
  });
}

/**
 * Reads a copy in the directory for temporary files, with the log or journal that was left
 * behind. Where open files may be removed, the copy has no name any more.
 */
export function openCopy(file: string): Database.Database {
  const directory = temporaryDirectory('gradwire-history-');
  const copy = path.join(directory, path.basename(file));
  const remove = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    // The journal first: with it, what a transaction has left half done is undone in the copy.
    for (const suffix of ['-journal', '', '-wal']) {
      if (!existsSync(file + suffix)) continue;
      copyFileSync(file + suffix, copy + suffix);
      chmodSync(copy + suffix, 0o600);
    }
    const database = openShared(copy);
    database.pragma('query_only = ON');
    if (process.platform === 'win32') process.once('exit', remove);
    else remove();
    return database;
  } catch (thrown) {
    remove();
    throw databaseError(thrown, file);
  }
}

const journalOf = (file: string): 'TRUNCATE' | 'WAL' =>
  isOnNetwork(path.dirname(file)) ? 'TRUNCATE' : 'WAL';

function opened(
  file: string,
  prepare: (database: Database.Database) => void,
): Database.Database {
  let database: Database.Database | undefined;
  try {
    keepPrivate(file);
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
    prepare(database);
    return database;
  } catch (thrown) {
    database?.close();
    throw databaseError(thrown, file);
  }
}

/**
 * Lets no other user read what runs were given and what they printed, whatever the mode of the
 * directory. SQLite makes the log and its index with the mode of the file.
 */
function keepPrivate(file: string): void {
  if (process.platform === 'win32') return;
  for (const each of [file, `${file}-wal`, `${file}-shm`]) {
    const entry = statSync(each, { throwIfNoEntry: false });
    if (entry === undefined) {
      if (each === file) makePrivate(file);
      continue;
    }
    const isMine = entry.uid === process.getuid?.();
    if (!entry.isFile() || !isMine || (entry.mode & 0o077) === 0) continue;
    try {
      chmodSync(each, entry.mode & 0o700);
    } catch (error) {
      // The log and its index come and go with other processes; on a disk that cannot be
      // written the mode cannot be changed either, and what is stored can still be read.
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'EROFS') throw error;
    }
  }
}

/** Makes the file for the user alone; if that fails, SQLite says why. */
function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, 'a', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
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
