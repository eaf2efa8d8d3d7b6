/**
 * Which iteration a rank's trainer threads begin next, from one meeting of all ranks to the
 * next. Iterations begin in order and are pushed in any order. None begins more than s ahead of
 * the oldest that the rank itself has not pushed: servers would not answer before that is there,
 * and what is asked is answered in turn. Pure: others compute, push and ask.
 */
export interface IterationOrderOptions {
  /** All ranks begin it. */
  readonly first: number;
  /** s. */
  readonly staleness: number;
  /** Whether it is foreseen that all meet before this iteration. */
  readonly meetsBefore: (iteration: number) => boolean;
}

export class IterationOrder {
  readonly #options: IterationOrderOptions;
  /** Not given out yet. */
  #next: number;
  /** All before have been pushed. */
  #oldest: number;
  readonly #beyond = new Set<number>();
  #meeting: number | undefined;

  constructor(options: IterationOrderOptions) {
    this.#options = options;
    this.#next = this.#oldest = options.first;
  }

  /** Before which iteration all meet; undefined while that is open. */
  get meeting(): number | undefined {
    return this.#meeting;
  }

  /**
   * An iteration for a thread that has none, given out once; undefined where all meet before
   * it, or where it is too early.
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

  /** It has been pushed, or will have been before anything that is asked from now on. */
  pushed(iteration: number): void {
    this.#beyond.add(iteration);
    while (this.#beyond.delete(this.#oldest)) this.#oldest++;
  }

  /** Servers have said that all meet before this iteration, which therefore does not begin. */
  fence(iteration: number): void {
    this.#meeting = Math.min(this.#meeting ?? iteration, iteration);
  }
}
