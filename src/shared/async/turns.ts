/** Runs requested work one after the other, in order of request. */
import { awaitedElsewhere } from './awaited-elsewhere.ts';

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** @param work its errors go to its caller */
  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(awaitedElsewhere);
    return turn;
  }
}
