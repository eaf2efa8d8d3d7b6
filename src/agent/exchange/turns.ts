/** Work that is begun by several, and done one after the other, in the order it was asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** @param work told how long it has waited for its turn, ms; what it throws is its caller's */
  take<T>(work: (waited: number) => Promise<T>): Promise<T> {
    const asked = performance.now();
    const turn = this.#last.then(() => work(performance.now() - asked));
    this.#last = turn.catch(told);
    return turn;
  }
}

function told(): void {
  // Whoever asked for the turn holds the same promise.
}
