/**
 * When an interrupted run is retried: soon, then at growing intervals, but not forever,
 * because the run itself may be the cause. A new checkpoint is progress and resets the count.
 * A job that the cluster does not take says nothing about the run: it is submitted again for a day.
 */
import { GrowingPause } from '../../../shared/async/growing-pause.ts';

/** Interruptions in a row without a new checkpoint in between. */
export const MOST_RESTARTS = 5;
const FIRST_PAUSE_MS = 500;
/** A controller that restarts, or a limit of jobs, may last from seconds to hours. */
const SUBMISSION_PAUSES = { first: 5_000, longest: 300_000 };
/** Time for which a job is submitted again. */
const SUBMISSION_MS = 24 * 3600 * 1000;

export class Restarts {
  readonly #restart: () => void;
  readonly #pauses = new GrowingPause(SUBMISSION_PAUSES);
  #interruptions = 0;
  #timer: NodeJS.Timeout | undefined;
  /** When a job could first not be submitted. */
  #unsubmittedSince: number | undefined;

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
    this.#unsubmittedSince = undefined;
    this.#pauses.reset();
    this.#after(FIRST_PAUSE_MS * 2 ** Math.max(0, this.#interruptions - 1));
  }

  /** The cluster did not take a job. @returns whether it is submitted again */
  unsubmitted(): boolean {
    const now = performance.now();
    this.#unsubmittedSince ??= now;
    if (now - this.#unsubmittedSince > SUBMISSION_MS) return false;
    this.#after(this.#pauses.next());
    return true;
  }

  progressed(): void {
    this.#interruptions = 0;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #after(pause: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#restart, pause);
  }
}
