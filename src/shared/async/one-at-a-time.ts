/**
 * Work of which one run is under way at a time. A call meanwhile has it run once more, however
 * many calls there were: the last run begins after the last call, and so sees what it was about.
 *
 *     const reading = new OneAtATime(() => this.#readMissed());
 *     connection.on('resync', () => void reading.run());
 */
export class OneAtATime {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #again = false;
  #closed = false;

  /** @param work what is run; a failure is that of the calls that waited for it */
  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Resolves when a run has ended that began after this call; rejects as the last run did. */
  run(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#again = true;
    this.#running ??= this.#runAll();
    return this.#running;
  }

  /** Lets the run under way end, and begins no other. */
  close(): void {
    this.#closed = true;
  }

  async #runAll(): Promise<void> {
    try {
      for (;;) {
        this.#again = false;
        try {
          await this.#work();
        } catch (error) {
          if (!this.#goesOn) throw error;
        }
        if (!this.#goesOn) return;
      }
    } finally {
      // Before any other code runs: a call from here on begins a run of its own.
      this.#running = undefined;
    }
  }

  get #goesOn(): boolean {
    return this.#again && !this.#closed;
  }
}
