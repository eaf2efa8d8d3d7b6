/**
 * One host (a window or a server) per home. The lock is an exclusive transaction on an
 * otherwise empty SQLite file: the operating system releases it when the process ends,
 * however it ends, so a stale lock cannot exist and a recycled pid cannot look like a
 * holder. Who holds it is written beside it. The CLI's own commands need no lock.
 */
import Database from 'better-sqlite3';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { failure } from '../../shared/errors.ts';
import type { Home } from './home.ts';

const holderSchema = z.object({
  pid: z.int(),
  host: z.enum(['electron', 'browser']),
  url: z.string().optional(),
});
type Holder = z.infer<typeof holderSchema>;

export class AppLock {
  readonly #database: Database.Database;
  readonly #home: Home;
  #holder: Holder;

  private constructor(database: Database.Database, home: Home, holder: Holder) {
    this.#database = database;
    this.#home = home;
    this.#holder = holder;
    this.#write();
  }

  /** @throws GradwireError `APP_ALREADY_RUNNING`, naming the holder */
  static acquire(home: Home, host: Holder['host']): AppLock {
    // The patience is for another process that looks whether the lock is held.
    const database = tryLock(home, 500);
    if (database === undefined) throw alreadyRunning(home);
    return new AppLock(database, home, { pid: process.pid, host });
  }

  /** Whether another process, or this one, holds the lock now. */
  static isHeld(home: Home): boolean {
    const database = tryLock(home, 0);
    database?.close();
    return database === undefined;
  }

  /** Where the holder can be reached, for the message that a second one gets. No token. */
  announce(url: string): void {
    this.#holder = { ...this.#holder, url };
    this.#write();
  }

  release(): void {
    if (!this.#database.open) return;
    rmSync(this.#home.lockHolder, { force: true });
    this.#database.close();
  }

  #write(): void {
    writeFileSync(this.#home.lockHolder, JSON.stringify(this.#holder), { mode: 0o600 });
  }
}

function tryLock(home: Home, patience: number): Database.Database | undefined {
  let database: Database.Database | undefined;
  try {
    database = new Database(home.lock, { timeout: patience });
    database.exec('BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      return undefined;
    }
    throw failure('HOME_UNUSABLE', `cannot lock ${home.lock}: ${String(error)}`, {
      next: 'Remove that file if no Gradwire is running, then try again.',
    });
  }
}

function alreadyRunning(home: Home): Error {
  const holder = readHolder(home);
  const who = holder === undefined ? '' : ` (process ${holder.pid})`;
  const where = holder?.url === undefined ? '' : ` at ${holder.url}`;
  return failure(
    'APP_ALREADY_RUNNING',
    `Gradwire already runs on ${home.directory}${who}${where}`,
    {
      next: 'Use that one or end it; GRADWIRE_HOME=DIRECTORY gives a second one a home of its own.',
    },
  );
}

/** The holder as it wrote itself down; undefined in the moment before it has. */
function readHolder(home: Home): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(home.lockHolder, 'utf8');
  } catch {
    return undefined; // not yet written: the message does without it
  }
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // half written: the same
  }
}
