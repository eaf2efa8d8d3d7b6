/**
 * When an interrupted run is retried: soon, then at growing intervals, but not forever,
 * because the run itself may be the cause. A new checkpoint is progress and resets the count.
 */

/** Interruptions in a row without a new checkpoint in between. */
export const MOST_RESTARTS = 5;
const FIRST_PAUSE_MS = 500;

export class Restarts {
  readonly #restart: () => void;
  #interruptions = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(restart: () => void) {
    this.#restart = restart;
  }

  /** The run was interrupted. @returns whether it may be tried again */
  interrupted(): boolean {
    this.#interruptions++;
    return this.#interruptions <= MOST_RESTARTS;
  }

  /** Retries after a pause that doubles each time. */
  soon(): void {
    clearTimeout(this.#timer);
    const pause = FIRST_PAUSE_MS * 2 ** Math.max(0, this.#interruptions - 1);
    this.#timer = setTimeout(this.#restart, pause);
  }

  progressed(): void {
    this.#interruptions = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
