/**
 * Whether a supervisor's home is still there. Without it nobody can find the supervisor or its
 * runs any more. A network file system may lose a directory for a moment, or refuse to say
 * anything about it: only a home that is absent at many looks in a row is gone. Looks are
 * counted, not time: the process may have been suspended.
 */
import { statSync } from 'node:fs';

/** Looks in a row, one a second, that find no home before it counts as gone. */
export const LOOKS_AWAY = 20;

export class HomeWatch {
  readonly #directory: string;
  readonly #number: bigint;
  #away = 0;

  /** @throws if the directory is not there */
  constructor(directory: string) {
    this.#directory = directory;
    this.#number = numberOf(directory);
  }

  /** `away`: absent now, or another directory is in its place; `gone`: for too long. */
  look(): 'there' | 'away' | 'gone' {
    if (!this.#isAway) {
      this.#away = 0;
      return 'there';
    }
    this.#away++;
    return this.#away < LOOKS_AWAY ? 'away' : 'gone';
  }

  get #isAway(): boolean {
    try {
      return numberOf(this.#directory) !== this.#number;
    } catch (error) {
      // ESTALE, EIO and others say nothing about the directory.
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }
}

/** The device is left out: a file system may be mounted again. */
const numberOf = (directory: string): bigint =>
  statSync(directory, { bigint: true }).ino;
