/**
 * Pauses between attempts, each longer than the one before. It waits for nothing itself, since
 * callers also wait for other things at once.
 *
 *     const pauses = new GrowingPause({ first: 100, longest: 5000 });
 *     while (!(await attempt())) await sleep(pauses.next());
 */
export interface GrowingPauseOptions {
  /** The shortest pause, in milliseconds. */
  readonly first: number;
  /** The longest; default: there is none. */
  readonly longest?: number;
  /** Ratio of each pause to the one before; default: 2. */
  readonly factor?: number;
}

export class GrowingPause {
  readonly #options: Required<GrowingPauseOptions>;
  #next: number;

  constructor({ factor = 2, first, longest = Infinity }: GrowingPauseOptions) {
    this.#options = { factor, first, longest };
    this.#next = Math.min(first, longest);
  }

  /** The pause before the next attempt, in milliseconds. */
  next(): number {
    const { factor, longest } = this.#options;
    const pause = this.#next;
    this.#next = Math.min(factor * pause, longest);
    return pause;
  }

  /** Begins with the shortest again. */
  reset(): void {
    this.#next = Math.min(this.#options.first, this.#options.longest);
  }
}
