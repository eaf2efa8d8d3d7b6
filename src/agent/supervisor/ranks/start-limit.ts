/**
 * The time within which all ranks of a team must listen. Many ranks on few cores start one after the
 * other, so each that listens gives the others time anew; one that never starts still ends the run.
 */
export class StartLimit {
  readonly #now: () => number;
  readonly #startMs: number;
  readonly #began: number;
  #at: number;

  /**
   * @param startMs time for a rank to start
   * @param readMs time for all to read their data besides
   */
  constructor(startMs: number, readMs: number, now = () => performance.now()) {
    this.#now = now;
    this.#startMs = startMs;
    this.#began = now();
    this.#at = this.#began + startMs + readMs;
  }

  /** A rank listens. */
  heard(): void {
    this.#at = Math.max(this.#at, this.#now() + this.#startMs);
  }

  /** Milliseconds that are left. */
  get leftMs(): number {
    return Math.max(0, this.#at - this.#now());
  }

  /** All the time that the ranks are given, as whole seconds. */
  get seconds(): number {
    return Math.round((this.#at - this.#began) / 1000);
  }
}
