/**
 * Decides which worker may begin which iteration: stale synchronous parallel. A worker that
 * begins iteration t must see the pushes of all workers from the iterations before t − s, so
 * it is at most s iterations ahead of the slowest. With s = 0 no worker starts before all have
 * pushed.
 *
 * It also decides where all meet again. A meeting before iteration t is set while workers are
 * at different iterations: it lies after the newest that any worker may have begun, so that
 * every worker still has to ask before it gets there. Pure: callers wait and send.
 *
 * Source: Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter
 * Server" (NIPS 2013), section 2.
 */

/** `wait`: ask again when anything has been pushed. */
export type Answer = 'begin' | 'wait' | 'meet';

/** A worker's progress; its iterations may end in a different order than they began. */
interface Progress {
  /** All iterations before this one have been pushed. */
  next: number;
  /** Later iterations already pushed. */
  readonly beyond: Set<number>;
}

export class StalenessBound {
  readonly #staleness: number;
  readonly #workers: readonly Progress[];
  /** The newest iteration that any worker may have begun. */
  #newest = 0;
  #meeting: number | undefined;

  /** @param staleness s: iterations by which a worker may be ahead of the slowest */
  constructor(workers: number, staleness: number) {
    this.#staleness = staleness;
    this.#workers = Array.from({ length: workers }, () => ({
      next: 0,
      beyond: new Set<number>(),
    }));
  }

  /**
   * All workers begin this iteration together.
   * @param count iterations that each begins at once, from this one on
   */
  meet(iteration: number, count = 1): void {
    for (const worker of this.#workers) {
      worker.next = iteration;
      worker.beyond.clear();
    }
    this.#newest = iteration + count - 1;
    this.#meeting = undefined;
  }

  /** The weights have every worker's pushes of the iterations before this one. */
  get version(): number {
    return Math.min(...this.#workers.map(({ next }) => next));
  }

  /** Whether all workers have pushed the same iterations. */
  get even(): boolean {
    const { version } = this;
    return this.#workers.every(
      ({ beyond, next }) => next === version && beyond.size === 0,
    );
  }

  /** A worker's push of an iteration has been applied, all of it. */
  pushed(worker: number, iteration: number): void {
    const progress = this.#workers[worker]!;
    const { beyond, next } = progress;
    // Iterations further ahead were not allowed to begin.
    if (
      iteration < next ||
      iteration > next + this.#staleness ||
      beyond.has(iteration)
    ) {
      throw new Error(
        `internal: worker ${worker} pushed iteration ${iteration}, and has all before ${next}`,
      );
    }
    beyond.add(iteration);
    while (beyond.delete(progress.next)) progress.next++;
  }

  /** Requests a meeting of all workers, as soon as possible. */
  wantMeeting(): void {
    this.#meeting ??= this.#newest + 1;
  }

  /** Whether a worker that has begun all iterations before may begin this one. */
  ask(iteration: number): Answer {
    // A rank with several threads may ask for later ones before it learns of the meeting.
    if (iteration >= (this.#meeting ?? Infinity)) return 'meet';
    if (iteration - this.version > this.#staleness) return 'wait';
    this.#newest = Math.max(this.#newest, iteration);
    return 'begin';
  }
}
