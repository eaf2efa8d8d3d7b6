/**
 * The disk's reserve: a file beside the database that only keeps space. SQLite needs some to
 * delete anything, and even to read, so on a full disk a part of it is given back: what would
 * free space can then still begin.
 *
 * Cost: two megabytes, made with a run where six are free.
 */
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';

const RESERVE_BYTES = 2 * 2 ** 20;
const FREE_BYTES = 6 * 2 ** 20;

export class DiskReserve {
  readonly #file: string;

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

  /**
   * Gives this number of bytes back to the disk.
   * @returns whether there were any
   */
  spend(bytes: number): boolean {
    try {
      const { size } = statSync(this.#file);
      if (size > bytes) truncateSync(this.#file, size - bytes);
      else rmSync(this.#file);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      return false;
    }
  }
}
