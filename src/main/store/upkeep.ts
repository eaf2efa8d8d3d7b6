/**
 * Upkeep of the history while a program works: a step now and then, a fifth of the time at
 * most, so that calls and records never wait longer than one step (some 30 ms). What is not
 * done when the program ends, the next one does.
 */
import { GradwireError } from '../../shared/errors/errors.ts';
import type { HistorySpace } from './history-space.ts';

const SHARE = 5;
const LEAST_PAUSE_MS = 20;
/**
 * Time until the next look when nothing is to be done; `TROUBLE_MS`: when the disk is full or
 * locked.
 */
const IDLE_MS = 10_000;
const TROUBLE_MS = 60_000;

export class Upkeep {
  readonly #space: HistorySpace;
  readonly #trouble: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;

  /** @param trouble told of what cannot be the disk's fault */
  constructor(space: HistorySpace, trouble: (error: unknown) => void) {
    this.#space = space;
    this.#trouble = trouble;
    this.#again(LEAST_PAUSE_MS);
  }

  /** Goes on for so long without a pause, then stops. */
  finish(budgetMs: number): void {
    this.close();
    const end = performance.now() + budgetMs;
    while (performance.now() < end && this.#step()) continue;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #again(pause: number): void {
    this.#timer = setTimeout(() => {
      const start = performance.now();
      const isWorth = this.#step();
      if (this.#timer === undefined) return;
      const took = performance.now() - start;
      const rest = Math.max(LEAST_PAUSE_MS, took * (SHARE - 1));
      this.#again(isWorth === undefined ? TROUBLE_MS : isWorth ? rest : IDLE_MS);
    }, pause);
    this.#timer.unref();
  }

  /** Takes one step. Returns whether there may be more to do; undefined if the step failed. */
  #step(): boolean | undefined {
    try {
      return this.#space.compactIfFree();
    } catch (error) {
      // A full disk or a lock: whoever has to store something reports it.
      const isExpected =
        error instanceof GradwireError && error.code.startsWith('DATABASE_');
      if (!isExpected) this.#trouble(error);
      return undefined;
    }
  }
}
