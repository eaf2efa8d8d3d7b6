/**
 * The space that the history takes: records of older versions move into blocks, runs without
 * levels get them, purged runs are deleted, and free pages go back to the disk.
 *
 * Everything happens in small steps, each a transaction, so that it may end at any moment and
 * goes on later, others can use the database in between, and the write-ahead log stays small
 * enough for the reserve of a full disk.
 */
import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';
import { failure, GradwireError, inputError } from '../../shared/errors/errors.ts';
import { hasEnded } from '../../shared/records/run-state.ts';
import { databaseError } from './database-error.ts';
import type { DiskReserve } from './disk-reserve.ts';
import type { IterationArchive } from './iteration-archive.ts';
import type { RunRow } from './run-row.ts';
import { prepareSpace } from './space-statements.ts';

/** Pages that a step gives back. */
const STEP_PAGES = 64;
/** Most bytes that a step writes to the log, and a part of them: few steps need all. */
const STEP_BYTES = 2 ** 20;
const PART_BYTES = STEP_BYTES / 8;
/** Time without a record after which nobody is storing a run any more. */
const QUIET_MS = 30_000;
/** Pages in use up to which a database is rewritten unasked: half a second. */
export const REWRITE_PAGES = 16_384;
/** Free pages that are not worth a step: without a run in progress, and with one. */
const KEPT_PAGES = 32;
const KEPT_PAGES_IN_USE = 2048;

export class HistorySpace {
  readonly #file: string;
  readonly #database: Database.Database;
  readonly #archive: IterationArchive;
  readonly #statements: ReturnType<typeof prepareSpace>;
  readonly #reserve: DiskReserve;

  constructor(
    database: Database.Database,
    reserve: DiskReserve,
    file: string,
    archive: IterationArchive,
  ) {
    this.#database = database;
    this.#file = file;
    this.#archive = archive;
    this.#statements = prepareSpace(database);
    this.#reserve = reserve;
  }

  /** Bytes of the database on the disk, its log included. */
  get bytes(): number {
    const files = [this.#file, `${this.#file}-wal`];
    return files.reduce(
      (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  }

  /** Makes the reserve, if the disk has space. */
  keepReserve(): void {
    this.#reserve.keep();
  }

  /** Does something that frees space, now or later; if the disk is full, with some of the reserve. */
  freeing<T>(work: () => T): T {
    try {
      return this.#freeing(work);
    } finally {
      this.#giveBack();
    }
  }

  /** Does `compact` unless another process writes now. @throws GradwireError `DATABASE_BUSY` */
  compactIfFree(): boolean {
    return this.#ifFree(() => this.compact());
  }

  /**
   * Moves some records into a block that an older version, or a run that ended without us,
   * left as rows; makes some of a run's levels; removes some of a purged run.
   * @returns whether there may be more to do
   */
  compact(): boolean {
    const step = (): boolean => {
      const purged = this.#statements.purging.get();
      if (purged !== undefined) {
        this.#purgeSome(purged);
        return true;
      }
      const run = this.#archive.due();
      if (run === undefined) return this.#removeOldLevels() || this.#raise();
      const saved = this.#archive.seal(run) ?? 0;
      const isDone = run.hasEnded && !this.#archive.isLong(run.number, 1);
      this.#statements.addBytes.run(-saved, run.number);
      if (isDone) this.#statements.countBytes.run({ run: run.number });
      return true;
    };
    return this.#guard(
      () =>
        this.#database.transaction(step).immediate() ||
        this.#rewrite(REWRITE_PAGES) ||
        this.#shrink(),
    );
  }

  /** Removes some of the levels that older versions made. @returns whether there were any */
  #removeOldLevels(): boolean {
    const blocks = this.#statements.oldLevels.all();
    for (const { id, run, bytes } of blocks) {
      this.#statements.removeBlock.run(id);
      this.#statements.addBytes.run(-bytes, run);
    }
    return blocks.length > 0;
  }

  /** Makes a stretch of a run's levels. @returns whether one was due */
  #raise(): boolean {
    const run = this.#archive.levels.due();
    if (run === undefined) return false;
    this.#statements.addBytes.run(this.#archive.levels.raise(run), run.number);
    return true;
  }

  /** Bytes of deleted runs, and how many there are. */
  deleted(): { readonly runs: number; readonly bytes: number } {
    return this.#guard(() => this.#statements.deleted.get()!);
  }

  /** The ids of all deleted runs. */
  deletedRuns(): readonly string[] {
    return this.#guard(() => this.#statements.deletedRuns.all().map(({ id }) => id));
  }

  /**
   * Takes a deleted run out of the history; `clear` then removes its records. It cannot be
   * restored from here on.
   * @param read reads its row, as the transaction finds it
   * @throws GradwireError `RUN_NOT_DELETED`, `RUN_NOT_ENDED`, `RUN_BEING_STORED`
   */
  purge(read: () => RunRow): void {
    const begin = (): void => {
      const row = read();
      requirePurgeable(row, this.#statements.isOpen.get(row.number) !== undefined);
      this.#statements.beginPurge.run(row.number);
    };
    this.#freeing(() => {
      this.#database.transaction(begin).immediate();
    });
  }

  /**
   * Removes the records of purged runs, also of those that a process which is gone has left,
   * and gives the space back to the disk, a step at a time.
   * @param mostPages pages in use up to which an older version's database is rewritten, which
   * is one long step
   * @returns why the file could not become smaller; its free space is used for new records
   */
  *clear(mostPages = Infinity): Generator<undefined, GradwireError | undefined> {
    try {
      for (;;) {
        const run = this.#guard(() => this.#statements.purging.get());
        if (run === undefined) break;
        while (this.#freeing(() => this.#purgeSome(run))) {
          this.#checkpoint('PASSIVE');
          yield;
        }
      }
      const unfreed = yield* this.#giveToDisk(mostPages);
      if (unfreed !== undefined) return unfreed;
    } finally {
      this.#giveBack();
    }
    this.#reserve.keep();
    return undefined;
  }

  /** @returns why the file could not become smaller */
  *#giveToDisk(mostPages: number): Generator<undefined, GradwireError | undefined> {
    try {
      while (this.#number('auto_vacuum') !== INCREMENTAL && this.compact()) yield;
      this.#rewrite(mostPages);
      while (this.#number('freelist_count') > 0) {
        if (!this.#freeing(() => this.#vacuumSome())) break;
        this.#checkpoint('PASSIVE');
        yield;
      }
      this.#checkpoint('TRUNCATE');
    } catch (error) {
      if (!(error instanceof GradwireError)) throw error;
      return error;
    }
    return undefined;
  }

  /** Number of runs that have ever been purged. */
  purgedRuns(): number {
    return this.#guard(() => this.#statements.purgedRuns.get()!.count);
  }

  isPurged(id: string): boolean {
    return this.#guard(() => this.#statements.isPurged.get({ id }) !== undefined);
  }

  #freeing<T>(work: () => T): T {
    for (let spent = 0; ; spent += PART_BYTES) {
      try {
        return this.#guard(work);
      } catch (error) {
        const isFull =
          error instanceof GradwireError && error.code === 'DATABASE_WRITE_FAILED';
        if (!isFull || spent >= STEP_BYTES || !this.#reserve.spend(PART_BYTES))
          throw error;
      }
    }
  }

  /** Makes the reserve whole again, as far as the disk has room: the log needs none any more. */
  #giveBack(): void {
    if (!this.#reserve.isSpent) return;
    try {
      this.#ifFree(() => {
        this.#guard(() => this.#database.pragma('wal_checkpoint(TRUNCATE)'));
      });
    } catch (error) {
      // Other processes read, or the disk has no room for it: the log stays.
      if (!(error instanceof GradwireError)) throw error;
    }
    this.#reserve.restore();
  }

  /** Does some work without waiting for other processes. @throws if one of them is writing */
  #ifFree<T>(work: () => T): T {
    const patience = this.#number('busy_timeout');
    this.#database.pragma('busy_timeout = 0');
    try {
      return work();
    } finally {
      this.#database.pragma(`busy_timeout = ${patience}`);
    }
  }

  /** @returns whether there is more of it */
  #purgeSome(run: { readonly number: number; readonly id: string }): boolean {
    const step = (): boolean => {
      for (const remove of this.#statements.removals) {
        if (remove.run({ run: run.number }).changes > 0) return true;
      }
      this.#statements.remember.run(run.id);
      this.#statements.removeRun.run(run.number);
      return false;
    };
    return this.#database.transaction(step).immediate();
  }

  /**
   * Rewrites a database of an older version, whose free pages could not be given back, once
   * enough of it is free. Needs the space of what is left.
   * @returns whether it did
   */
  #rewrite(mostPages: number): boolean {
    if (this.#number('auto_vacuum') === INCREMENTAL) return false;
    const free = this.#number('freelist_count');
    const used = this.#number('page_count') - free;
    if (used > mostPages) return false;
    this.#guard(() => {
      this.#database.pragma('auto_vacuum = INCREMENTAL');
      this.#database.exec('VACUUM');
    });
    this.#checkpoint('TRUNCATE');
    return this.#number('auto_vacuum') === INCREMENTAL;
  }

  /** Moves the log into the database, as far as other readers let it. */
  #checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): void {
    this.#freeing(() => {
      this.#database.pragma(`wal_checkpoint(${mode})`);
    });
  }

  /** Gives some free pages back, unless runs in progress are about to use them. */
  #shrink(): boolean {
    const isUsed = this.#statements.inProgress.get() !== undefined;
    const free = this.#number('freelist_count');
    if (free <= (isUsed ? KEPT_PAGES_IN_USE : KEPT_PAGES)) return false;
    return this.#vacuumSome();
  }

  /** @returns whether it could */
  #vacuumSome(): boolean {
    if (this.#number('auto_vacuum') !== INCREMENTAL) return false;
    this.#database.pragma(`incremental_vacuum(${STEP_PAGES})`);
    return true;
  }

  #number(pragma: string): number {
    return this.#guard(() => this.#database.pragma(pragma, { simple: true }) as number);
  }

  #guard<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      throw databaseError(thrown, this.#file);
    }
  }
}

/** SQLite's number for the mode `INCREMENTAL` of `auto_vacuum`. */
const INCREMENTAL = 2;

function requirePurgeable(row: RunRow, isOpen: boolean): void {
  const { id } = row;
  if (row.deleted === 0) {
    throw inputError('RUN_NOT_DELETED', `run ${id} is not deleted`, {
      next: `A purge cannot be undone, so delete it first: gradwire runs delete ${id}.`,
    });
  }
  if (!hasEnded(row.state)) {
    throw inputError('RUN_NOT_ENDED', `run ${id} is still in progress`, {
      next: 'Stop it first.',
    });
  }
  if (isOpen && Date.now() - (row.stored_at ?? 0) < QUIET_MS) {
    throw failure('RUN_BEING_STORED', `records of run ${id} are still being stored`, {
      next: 'Try again in a minute.',
    });
  }
}
