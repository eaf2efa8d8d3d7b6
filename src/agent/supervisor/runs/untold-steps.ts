/** Steps of a program that is only observed which no rank has told yet: from these a trace can begin. */
import type { IterationRecord } from '../../../shared/records/iteration.ts';

/** Ranks tell of their steps twice a second, and an order reaches one before the other. */
const AHEAD_MS = 1000;

export class UntoldSteps {
  #next = 0;
  #wall = Infinity;

  saw({ iteration, wall }: Pick<IterationRecord, 'iteration' | 'wall'>): void {
    if (iteration < this.#next) return;
    this.#next = iteration + 1;
    this.#wall = wall;
  }

  /** One that most likely no rank will have told when all of them have an order. */
  get first(): number {
    return this.#next + Math.floor(AHEAD_MS / Math.max(this.#wall, 1));
  }
}
