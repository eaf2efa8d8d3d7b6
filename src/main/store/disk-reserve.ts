/**
 * The disk's reserve: a file beside the database that only keeps space. SQLite needs some to
 * delete anything, so on a full disk a part of it is spent: what would free space can then still
 * begin. Whoever spends it makes it whole again as soon as there is room, before others take that.
 *
 * Cost: two megabytes, made with a run where six are free.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

const RESERVE_BYTES = 2 * 2 ** 20;
const FREE_BYTES = 6 * 2 ** 20;
const PIECE_BYTES = 64 * 2 ** 10;

export class DiskReserve {
  readonly #file: string;
  /** Bytes that this object has spent and not made good. */
  #spent = 0;

  /** @param database the file that it is for */
  constructor(database: string) {
    this.#file = path.join(path.dirname(database), 'gradwire.reserve');
  }

  /** Fills it up, if the disk has plenty of space. */
  keep(): void {
    try {
      const { bavail, bsize } = statfsSync(path.dirname(this.#file));
      if (bavail * bsize < FREE_BYTES) return;
      if (existsSync(this.#file) && statSync(this.#file).size >= RESERVE_BYTES) return;
      // Some file systems store no zeros.
      writeFileSync(this.#file, randomBytes(RESERVE_BYTES), { mode: 0o600 });
    } catch (error) {
      // It is a help for later; whatever the disk lacks now, the caller's own write tells.
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    }
  }

  /** Whether a part of it has been spent here and is still missing. */
  get isSpent(): boolean {
    return this.#spent > 0;
  }

  /**
   * Leaves this number of bytes to whoever writes next on the disk.
   * @returns whether there were any
   */
  spend(bytes: number): boolean {
    try {
      const { size } = statSync(this.#file);
      if (size > bytes) truncateSync(this.#file, size - bytes);
      else rmSync(this.#file);
      this.#spent += Math.min(size, bytes);
      return size > 0;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      return false;
    }
  }

  /** Makes good what has been spent, as far as the disk has room. */
  restore(): void {
    if (this.#spent === 0) return;
    try {
      const file = openSync(this.#file, 'a', 0o600);
      try {
        let missing = Math.min(this.#spent, RESERVE_BYTES - statSync(this.#file).size);
        while (missing > 0) {
          const piece = randomBytes(Math.min(missing, PIECE_BYTES));
          const written = writeSync(file, piece);
          this.#spent -= written;
          missing -= written;
        }
        // Whole, perhaps by another process.
        this.#spent = 0;
      } finally {
        closeSync(file);
      }
    } catch (error) {
      // The disk is full again: the rest is made good later.
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    }
  }
}
