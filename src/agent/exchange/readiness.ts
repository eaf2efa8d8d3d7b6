/**
 * The part of a gradient that is ready during its backward pass, which proceeds from the last
 * element to the first, like the layers of a network.
 */
export class Readiness {
  #from = Infinity;
  #waiting: { readonly start: number; readonly resolve: () => void }[] = [];

  /** All elements from this one on are ready. */
  advance(from: number): void {
    if (from >= this.#from) return;
    this.#from = from;
    const reached = this.#waiting.filter(({ start }) => start >= from);
    this.#waiting = this.#waiting.filter(({ start }) => start < from);
    for (const { resolve } of reached) resolve();
  }

  /** Resolves when all elements from this one on are ready; undefined if they are. */
  reached(start: number): Promise<void> | undefined {
    if (start >= this.#from) return undefined;
    return new Promise((resolve) => {
      this.#waiting.push({ start, resolve });
    });
  }
}
