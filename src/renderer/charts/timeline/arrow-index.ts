/** Messages of a stretch of time, found without a look at all of them. */
import type { Arrow } from '../../../shared/trace/message-arrows.ts';

export class ArrowIndex {
  readonly #arrows: readonly Arrow[];
  /** The last end of each arrow and those before it. */
  readonly #lastEnds: Float64Array;

  /** @param arrows by the moment at which they were sent, as a timeline has them */
  constructor(arrows: readonly Arrow[]) {
    this.#arrows = arrows;
    this.#lastEnds = new Float64Array(arrows.length);
    let last = -Infinity;
    for (const [i, { received }] of arrows.entries()) {
      last = Math.max(last, received);
      this.#lastEnds[i] = last;
    }
  }

  /** Places of the messages that were on their way in a stretch, in order. */
  *in(from: number, to: number): Generator<number> {
    let low = 0;
    let high = this.#arrows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#lastEnds[middle]! > from) high = middle;
      else low = middle + 1;
    }
    for (let i = low; i < this.#arrows.length; i++) {
      const { received, sent } = this.#arrows[i]!;
      if (sent >= to) return;
      if (received > from) yield i;
    }
  }
}
