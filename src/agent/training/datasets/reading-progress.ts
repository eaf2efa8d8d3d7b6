/**
 * Progress of reading a large data file, in words: how much of it has been read, every few
 * seconds. A process says once where the words go; without, nothing is said.
 */
import { formatBytes } from '../../../shared/words/units.ts';

const EVERY_MS = 5000;

let say: ((words: string) => void) | undefined;

/** @param listener takes a line of words; undefined: nobody does any more */
export function tellReading(listener: ((words: string) => void) | undefined): void {
  say = listener;
}

export class ReadingProgress {
  readonly #file: string;
  readonly #bytes: number;
  readonly #now: () => number;
  readonly #began: number;
  #told: number;

  /**
   * @param bytes of the file
   * @param now milliseconds of a clock that only goes forward
   */
  constructor(file: string, bytes: number, now = () => performance.now()) {
    this.#file = file;
    this.#bytes = bytes;
    this.#now = now;
    this.#began = now();
    this.#told = this.#began;
  }

  /** @param bytes read so far */
  at(bytes: number): void {
    const now = this.#now();
    if (say === undefined || now - this.#told < EVERY_MS) return;
    this.#told = now;
    const percent = Math.floor((100 * bytes) / this.#bytes);
    say(`reading ${this.#file}: ${percent} % of ${formatBytes(this.#bytes)}`);
  }

  /** Says that all is read, if anything was said before. */
  end(): void {
    if (say === undefined || this.#told === this.#began) return;
    const seconds = Math.round((this.#now() - this.#began) / 1000);
    say(`read ${this.#file}: ${formatBytes(this.#bytes)} in ${seconds} s`);
  }
}
