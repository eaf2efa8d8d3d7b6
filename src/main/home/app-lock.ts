/**
 * One host (a window or a server) per home. The holder is written beside the lock.
 * Commands of the CLI do not need it.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import { failure } from '../../shared/errors/errors.ts';
import { systemLimit, systemRefusal } from '../../shared/errors/system-limit.ts';
import { tryLock, type FileLock } from './file-lock.ts';
import type { Home } from './home.ts';

const holderSchema = z.object({
  pid: z.int(),
  host: z.enum(['electron', 'browser']),
  url: z.string().optional(),
});
type Holder = z.infer<typeof holderSchema>;

export class AppLock {
  readonly #lock: FileLock;
  readonly #home: Home;
  #holder: Holder;

  private constructor(lock: FileLock, home: Home, holder: Holder) {
    this.#lock = lock;
    this.#home = home;
    this.#holder = holder;
    this.#write();
  }

  /** @throws GradwireError `APP_ALREADY_RUNNING`, naming the holder */
  static acquire(home: Home, host: Holder['host']): AppLock {
    // Waits briefly, in case another process is only checking the lock.
    const lock = lockOf(home, 500);
    if (lock === undefined) throw alreadyRunning(home);
    return new AppLock(lock, home, { pid: process.pid, host });
  }

  /** Whether another process, or this one, holds the lock now. */
  static isHeld(home: Home): boolean {
    const lock = lockOf(home, 0);
    lock?.close();
    return lock === undefined;
  }

  /** Tells the holder's URL, without its token, for the error that a second host shows. */
  announce(url: string): void {
    this.#holder = { ...this.#holder, url };
    this.#write();
  }

  release(): void {
    if (!this.#lock.open) return;
    this.#forget();
    this.#lock.close();
  }

  /** The lock is held without it: on a full disk another host's error names no holder. */
  #write(): void {
    try {
      writeFileSync(this.#home.lockHolder, JSON.stringify(this.#holder), {
        mode: 0o600,
      });
    } catch {
      this.#forget();
    }
  }

  /** Deletes the holder's file, so that not even the holder before this one is named. */
  #forget(): void {
    try {
      rmSync(this.#home.lockHolder, { force: true });
    } catch {
      // A read-only disk: it cannot be removed either.
    }
  }
}

function lockOf(home: Home, patience: number): FileLock | undefined {
  try {
    return tryLock(home.lock, patience);
  } catch (error) {
    // A disk that cannot be written, for example, has better advice of its own.
    if (systemRefusal(error) !== undefined || systemLimit(error) !== undefined)
      throw error;
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
    `Gradwire is already running on ${home.directory}${who}${where}`,
    {
      next: 'Use or end that instance, or give this one its own home with GRADWIRE_HOME=DIRECTORY.',
    },
  );
}

/** The holder as it registered itself; undefined just before it has. */
function readHolder(home: Home): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(home.lockHolder, 'utf8');
  } catch {
    return undefined; // not yet written: the message omits it
  }
  try {
    return holderSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // half written: the same
  }
}
