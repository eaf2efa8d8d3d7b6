/** A clock that stands still until a test moves it on. */
export class ManualClock {
  #now = 1000;

  /** Milliseconds, as `performance.now` gives them. */
  readonly now = (): number => this.#now;

  advance(ms: number): void {
    this.#now += ms;
  }
}
