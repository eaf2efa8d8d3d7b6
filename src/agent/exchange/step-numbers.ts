/**
 * Iterations as methods count them. Where models step in turns, each model counts its own steps, from
 * the first iteration under the plan on: a warm-up of 100 iterations is 100 steps of each model, and
 * what goes round with the iterations, such as the leader of `scalecom`, goes round for each model.
 */
import type { ModelPart } from './model-part.ts';

export class StepNumbers {
  #first: number | undefined;
  readonly #steps = new Map<number, number>();

  /**
   * Begins an iteration.
   * @param models of its buckets, each once
   * @param part models that step; default: all, in every iteration
   * @returns the number of an iteration for a model
   */
  begin(
    iteration: number,
    models: Iterable<number | undefined>,
    part: ModelPart | undefined,
  ): (model: number | undefined) => number {
    if (part === undefined) return () => iteration;
    const first = (this.#first ??= iteration);
    const numbers = new Map<number, number>();
    for (const model of new Set(models)) {
      if (model === undefined) continue;
      const steps = this.#steps.get(model) ?? 0;
      numbers.set(model, first + steps);
      this.#steps.set(model, steps + 1);
    }
    return (model) => numbers.get(model!)!;
  }
}
