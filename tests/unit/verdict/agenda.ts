/** A virtual clock: what is to be done at which moment, in order. */

interface Entry {
  readonly time: number;
  readonly turn: number;
  readonly act: () => void;
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.time < b.time || (a.time === b.time && a.turn < b.turn);

/** Entries of the same moment are done in the order in which they were made. */
export class Agenda {
  now = 0;
  #turn = 0;
  /** A binary heap. */
  readonly #heap: Entry[] = [];

  at(time: number, act: () => void): void {
    const heap = this.#heap;
    const entry = { time, turn: this.#turn++, act };
    let place = heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isBefore(entry, heap[above]!)) break;
      heap[place] = heap[above]!;
      place = above;
    }
    heap[place] = entry;
  }

  /** Does all there is to do. */
  run(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.now = next.time;
      next.act();
    }
  }

  #next(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++;
      if (!isBefore(heap[below]!, last)) break;
      heap[place] = heap[below]!;
      place = below;
    }
    heap[place] = last;
    return first;
  }
}
