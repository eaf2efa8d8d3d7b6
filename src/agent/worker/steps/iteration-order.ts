/**
 * Decides which iteration a rank's trainer threads begin next, between two meetings of all
 * ranks. Iterations begin in order and are pushed in any order. None begins more than s ahead of
 * the oldest that the rank itself has not pushed: servers would not answer until that is pushed,
 * and they answer in turn. Pure: callers compute, push and ask.
 */
export interface IterationOrderOptions {
  /** The iteration that all ranks begin. */
  readonly first: number;
  /** Staleness bound s. */
  readonly staleness: number;
  /** Whether a meeting before this iteration is planned. */
  readonly meetsBefore: (iteration: number) => boolean;
}

export class IterationOrder {
  readonly #options: IterationOrderOptions;
  /** The next iteration to hand out. */
  #next: number;
  /** All earlier iterations have been pushed. */
  #oldest: number;
  readonly #beyond = new Set<number>();
  #meeting: number | undefined;

  constructor(options: IterationOrderOptions) {
    this.#options = options;
    this.#next = this.#oldest = options.first;
  }

  /** The iteration before which all meet; undefined while unknown. */
  get meeting(): number | undefined {
    return this.#meeting;
  }

  /**
   * The next iteration for an idle thread, handed out once; undefined if all meet before it,
   * or if it is too early.
   */
  next(): number | undefined {
    const { first, meetsBefore, staleness } = this.#options;
    const next = this.#next;
    if (this.#meeting === undefined && next > first && meetsBefore(next)) {
      this.#meeting = next;
    }
    if (this.#meeting !== undefined || next - this.#oldest > staleness)
      return undefined;
    this.#next++;
    return next;
  }

  /** Notes an iteration that has been pushed, or will be before any later request. */
  pushed(iteration: number): void {
    this.#beyond.add(iteration);
    while (this.#beyond.delete(this.#oldest)) this.#oldest++;
  }

  /**
   * Servers have announced a meeting before this iteration, which therefore does not begin.
   */
  meetBefore(iteration: number): void {
    this.#meeting = Math.min(this.#meeting ?? iteration, iteration);
  }
}
