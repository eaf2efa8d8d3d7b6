/**
 * Which worker may begin which iteration: stale synchronous parallel. A worker that begins
 * iteration t must see the pushes of all workers from the iterations before t − s, so it is at
 * most s iterations ahead of the slowest. With s = 0 nobody begins before all have pushed.
 *
 * And where all meet again. A fence before iteration t is agreed on while workers are at
 * different iterations: it is behind the newest that any worker has been let into, so that
 * every worker still has to ask before it gets there. Pure: it decides, others wait and send.
 *
 * Source: Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
 * Server" (NIPS 2013), section 2.
 */

/** `wait`: ask again when anything has been pushed. */
export type Answer = 'begin' | 'wait' | 'fence';

export class StalenessBound {
  readonly #staleness: number;
  /** Of each worker, the iteration after the last that it has pushed. */
  readonly #pushed: number[];
  /** The newest iteration that any worker may have begun. */
  #newest = 0;
  #fence: number | undefined;

  /** @param staleness s: iterations by which a worker may be ahead of the slowest */
  constructor(workers: number, staleness: number) {
    this.#staleness = staleness;
    this.#pushed = new Array<number>(workers).fill(0);
  }

  /** All workers begin this iteration together. */
  meet(iteration: number): void {
    this.#pushed.fill(iteration);
    this.#newest = iteration;
    this.#fence = undefined;
  }

  /** The weights have every worker's pushes of the iterations before this one. */
  get version(): number {
    return Math.min(...this.#pushed);
  }

  /** Whether all workers have pushed the same iterations. */
  get even(): boolean {
    return this.#pushed.every((iteration) => iteration === this.#pushed[0]);
  }

  /** A worker's push of an iteration has been applied, all of it. */
  pushed(worker: number, iteration: number): void {
    const expected = this.#pushed[worker];
    if (iteration !== expected) {
      throw new Error(
        `internal: worker ${worker} pushed iteration ${iteration}, not ${expected}`,
      );
    }
    this.#pushed[worker] = iteration + 1;
  }

  /** All are to meet, as soon as they can. */
  wantFence(): void {
    this.#fence ??= this.#newest + 1;
  }

  /** Whether a worker that has pushed all iterations before may begin this one. */
  ask(iteration: number): Answer {
    if (iteration === this.#fence) return 'fence';
    if (iteration - this.version > this.#staleness) return 'wait';
    this.#newest = Math.max(this.#newest, iteration);
    return 'begin';
  }
}
