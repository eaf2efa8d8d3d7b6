/**
 * Asynchronous training: a rank pushes the gradient of each batch to the servers, which move
 * their weights by it at once, and pulls weights for the next. It is at most s iterations ahead
 * of the slowest rank. All meet, with the same weights, before evaluations and checkpoints, at
 * switches, at a stop and at the end.
 *
 * A gradient's staleness is t − v: it is of iteration t, and the weights that it was computed
 * with have every rank's pushes of the iterations before v. It is at most s.
 *
 * Cost: 4·n bytes for the weights that were pulled, written to the trainer in each iteration.
 */
import type { StalenessSettings } from '../../../shared/parallelism.ts';
import type { Arena, Vector } from '../../memory/arena.ts';
import {
  computeGradient,
  isDue,
  type Steps,
  type StepsOptions,
  type TakenStep,
} from './steps.ts';

export interface AsynchronousStepsOptions extends StepsOptions {
  readonly served: StalenessSettings;
  readonly arena: Arena;
  /** Where the trainer writes its gradients, and the engine expects them. */
  readonly gradient: Float32Array;
}

export class AsynchronousSteps implements Steps {
  readonly #options: AsynchronousStepsOptions;
  /** What a checkpoint needs beside weights and engine is the servers', and so the engine's. */
  readonly state = [];
  /** What is pushed is no average of anything. */
  readonly exchanged = undefined;
  #weights: Vector | undefined;
  /** Of the weights that the next gradient is computed with. */
  #staleness = 0;
  #met = true;

  constructor(options: AsynchronousStepsOptions) {
    this.#options = options;
  }

  since(iteration: number): number {
    return iteration;
  }

  /** Whether all ranks have the same weights after the iteration that was taken last. */
  exchangesIn(): boolean {
    return this.#met;
  }

  async take(iteration: number): Promise<TakenStep> {
    const { arena, engine, gradient, rank, requireFinite, spec, trainer } =
      this.#options;
    if (this.#met) await this.#open(iteration);
    const computed = await computeGradient(trainer, iteration, gradient);
    const staleness = this.#staleness;
    const exchange = await engine.call('push', {
      iteration,
      lr: trainer.learningRate(iteration),
      meets: this.#meetsBehind(iteration),
      inspects: rank === 0 && isDue(spec.inspectEvery, { since: iteration, iteration }),
    });
    requireFinite(computed.step, iteration);
    this.#staleness = exchange.result.staleness;
    this.#met = exchange.result.met;
    const start = performance.now();
    await trainer.writeWeights(arena.f32(this.#weights!));
    const apply = performance.now() - start;
    return { ...computed, apply, exchange, staleness, elsewhere: 0 };
  }

  /** All ranks begin this iteration, with the same weights. */
  async #open(iteration: number): Promise<void> {
    const { arena, engine, served, spec, trainer } = this.#options;
    if (this.#weights === undefined) {
      const { vector } = await engine.call('allocate', { length: trainer.length });
      await trainer.readWeights(arena.f32(vector));
      this.#weights = vector;
    }
    const { momentum, nesterov = false, weightDecay = 0 } = spec.optimizer;
    const settings = { ...served, momentum, nesterov, weightDecay };
    await engine.call('serve', { iteration, settings, weights: this.#weights });
  }

  /** The same on all ranks. */
  #meetsBehind(iteration: number): boolean {
    const { checkpoints, spec } = this.#options;
    const next = iteration + 1;
    if (next === spec.iterations || checkpoints?.isDue(next) === true) return true;
    return isDue(spec.evaluateEvery, { since: iteration, iteration });
  }
}
