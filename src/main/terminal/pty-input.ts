/**
 * Input for a pseudoterminal. Node's stream of one waits in the system call until a program
 * reads, and with it the whole app; here the rest is offered again later.
 */
import { writeSync } from 'node:fs';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { GrowingPause } from '../../shared/async/growing-pause.ts';

/** Pauses while no program reads, in milliseconds. */
const PAUSES = { first: 1, longest: 50 };

export class PtyInput {
  readonly #descriptor: number;
  readonly #isOpen: () => boolean;
  readonly #pauses = new GrowingPause(PAUSES);
  #last: Promise<void> = Promise.resolve();

  /**
   * @param descriptor the terminal's own end, whose writes do not wait
   * @param isOpen whether the descriptor is still the terminal's
   */
  constructor(descriptor: number, isOpen: () => boolean) {
    this.#descriptor = descriptor;
    this.#isOpen = isOpen;
  }

  /** Resolves once the terminal has taken the bytes, or has closed, when the rest is dropped. */
  write(bytes: Buffer): Promise<void> {
    this.#last = this.#last.then(() => this.#pass(bytes));
    return this.#last;
  }

  async #pass(bytes: Buffer): Promise<void> {
    let left = bytes;
    while (left.length > 0 && this.#isOpen()) {
      const taken = this.#offer(left);
      if (taken === undefined) return;
      left = left.subarray(taken);
      if (taken === 0) await pause(this.#pauses.next());
      else {
        this.#pauses.reset();
        if (left.length > 0) await turn();
      }
    }
  }

  /** @returns the number of bytes taken; undefined if none will be any more */
  #offer(bytes: Buffer): number | undefined {
    try {
      // Not in another thread: meanwhile the descriptor could become another file's.
      return writeSync(this.#descriptor, bytes);
    } catch (error) {
      // The shell's end is reported elsewhere.
      return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : undefined;
    }
  }
}
