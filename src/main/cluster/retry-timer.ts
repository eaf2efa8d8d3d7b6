/** The timer of attempts to make a lost connection again, with growing pauses. */
import { GrowingPause } from '../../shared/async/growing-pause.ts';

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5000;

export class RetryTimer {
  readonly #attempt: () => void;
  #timer: NodeJS.Timeout | undefined;
  readonly #pauses = new GrowingPause({
    first: FIRST_RETRY_MS,
    longest: LONGEST_RETRY_MS,
  });
  #attempts = 0;

  /** @param attempt one attempt, made after each pause */
  constructor(attempt: () => void) {
    this.#attempt = attempt;
  }

  /** Whether an attempt is due or under way. */
  get isPending(): boolean {
    return this.#timer !== undefined;
  }

  /** Attempts since the last success or rest, the pending one included. */
  get attempts(): number {
    return this.#attempts;
  }

  /** @param pauseMs default: longer than the one before */
  later(pauseMs?: number): void {
    clearTimeout(this.#timer);
    this.#attempts++;
    // Pauses are randomised, because many apps may lose the same machine at the same
    // moment.
    const pause = (pauseMs ?? this.#pauses.next()) * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(this.#attempt, pause);
  }

  /** The attempt under way has succeeded. */
  done(): void {
    this.#timer = undefined;
  }

  /** Starts anew: with the shortest pause, counting from the beginning. */
  reset(): void {
    this.#pauses.reset();
    this.#attempts = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
