/** Work that is begun by several, and done one after the other, in the order it was asked for. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** @param work what it throws is its caller's */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(told);
    return turn;
  }
}

function told(): void {
  // The caller holds the same promise.
}
