/** Steps of a program that is only observed which no rank has told yet: from these a trace can begin. */
import type { IterationRecord } from '../../../shared/records/iteration.ts';

/** Ranks tell of their steps twice a second, and an order reaches one before the other. */
const AHEAD_MS = 1000;

export class UntoldSteps {
  #next = 0;
  #wall = Infinity;
  /** The end of the last step that was told, ms since 1970. */
  #end = -Infinity;

  saw({
    at,
    iteration,
    wall,
  }: Pick<IterationRecord, 'at' | 'iteration' | 'wall'>): void {
    if (iteration < this.#next) return;
    this.#next = iteration + 1;
    this.#wall = wall;
    this.#end = at + wall;
  }

  /**
   * The first step that most likely no rank will have told when all ranks have an order.
   * @param now ms since 1970: ranks may be behind with telling
   */
  first(now: number): number {
    if (this.#next === 0) return 0;
    const since = Math.max(0, now - this.#end);
    return this.#next + Math.floor((since + AHEAD_MS) / Math.max(this.#wall, 0.01));
  }
}
