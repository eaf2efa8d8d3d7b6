/**
 * Runs with one node's journal ended and another's not. The loss of a peer is noticed within
 * the run's timeoutSeconds; a node that stays silent longer is out of reach.
 */
const LATE_JOURNAL_MS = 5000;

export class LateJournals {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #giveUp: (run: string) => void;

  /** @param giveUp called when the time for the others is over */
  constructor(giveUp: (run: string) => void) {
    this.#giveUp = giveUp;
  }

  /** Starts the timer for the other journals on the first call for a run. */
  await(run: string): void {
    if (this.#timers.has(run)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(run);
      this.#giveUp(run);
    }, LATE_JOURNAL_MS);
    this.#timers.set(run, timer);
  }

  forget(run: string): void {
    clearTimeout(this.#timers.get(run));
    this.#timers.delete(run);
  }

  close(): void {
    for (const run of this.#timers.keys()) this.forget(run);
  }
}
