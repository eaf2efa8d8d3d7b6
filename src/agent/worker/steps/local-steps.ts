/**
 * Local steps: each rank takes H steps with its own optimiser, then the ranks exchange how
 * far they have moved, by the current plan, and all take one step of an outer optimiser
 * with the average. The engine and the methods count exchanges as iterations.
 *
 * Moves of local steps are in the units of the weights: a residual keeps such
 * differences, and a change of the learning rate needs no rescaling.
 *
 * Cost: 4·n bytes for the weights at the last exchange, 4·n for the outer momentum; at each
 * exchange the weights are read twice and written once.
 *
 * Sources: "Local SGD Converges Fast and Communicates Little" (Stich, 2019); DiLoCo
 * (Douillard et al., 2023).
 */
import type { LocalStepsSettings } from '../../../shared/spec/parallelism/local-steps.ts';
import type { GradientMemory } from '../../training/trainer.ts';
import { OuterOptimizer } from './outer-optimizer.ts';
import { BatchGradients } from '../trainers/batch-gradients.ts';
import {
  isDue,
  type Span,
  type Steps,
  type StepsOptions,
  type TakenStep,
} from './steps.ts';

export interface LocalStepsOptions extends StepsOptions {
  readonly settings: LocalStepsSettings;
  /** Memory to which the trainer writes its gradients. */
  readonly gradient: GradientMemory;
  /** The engine's input vector; may be the same memory. */
  readonly moved: Float32Array;
}

export class LocalSteps implements Steps {
  readonly #options: LocalStepsOptions;
  readonly #gradients: BatchGradients;
  readonly #outer: OuterOptimizer;
  /** The weights after the last exchange, the same on all ranks. */
  readonly #anchor: Float32Array;
  #anchored = false;

  constructor(options: LocalStepsOptions) {
    const { settings, trainer } = options;
    this.#options = options;
    this.#gradients = new BatchGradients(trainer);
    this.#outer = new OuterOptimizer(settings.outer, trainer.length);
    this.#anchor = new Float32Array(trainer.length);
  }

  get exchanged(): Float32Array {
    return this.#options.moved;
  }

  get state(): readonly Float32Array[] {
    const { velocity } = this.#outer;
    return velocity === undefined ? [] : [velocity];
  }

  since(iteration: number): number {
    return iteration - (iteration % this.#options.settings.every);
  }

  /** A run's last exchange follows its last iteration. */
  exchangesIn(iteration: number): boolean {
    const { settings, spec } = this.#options;
    const done = iteration + 1;
    return done % settings.every === 0 || done === spec.iterations;
  }

  async take(iteration: number, compares: boolean): Promise<TakenStep> {
    const { gradient, requireFinite, trainer } = this.#options;
    const start = performance.now();
    if (!this.#anchored) await trainer.readWeights(this.#anchor);
    this.#anchored = true;
    const anchoring = performance.now() - start;
    const computed = await this.#gradients.compute(iteration, gradient);
    requireFinite(computed.step, iteration);
    const begun = performance.now();
    await trainer.applyGradient(gradient, iteration);
    const step = { ...computed, staleness: 0, elsewhere: 0 };
    const anchored: Span = [start, start + anchoring];
    const alone: readonly Span[] = [anchored, [begun, performance.now()]];
    if (!this.exchangesIn(iteration)) {
      return { ...step, apply: timeOf(alone), applied: alone, exchange: undefined };
    }
    const { exchange, moves } = await this.#exchange(iteration, compares);
    const applied = [...alone, ...moves];
    return { ...step, apply: timeOf(applied), applied, exchange };
  }

  async #exchange(
    iteration: number,
    compares: boolean,
  ): Promise<{ exchange: TakenStep['exchange']; moves: readonly Span[] }> {
    const { comparison, engine, moved, rank, settings, spec, trainer } = this.#options;
    const anchor = this.#anchor;
    const start = performance.now();
    await trainer.readWeights(moved);
    for (let i = 0; i < moved.length; i++) moved[i] = anchor[i]! - moved[i]!;
    const ready = performance.now();
    if (compares) await comparison.keep(moved);
    const since = this.since(iteration);
    const exchange = await engine.call('exchange', {
      iteration: since / settings.every,
      reportedIteration: iteration,
      inspects: rank === 0 && isDue(spec.inspectEvery, { since, iteration }),
    });
    const exchanged = performance.now();
    this.#outer.step(anchor, moved);
    await trainer.writeWeights(anchor);
    // A fence may change the weights before the next step.
    this.#anchored = false;
    const moves: readonly Span[] = [
      [start, ready],
      [exchanged, performance.now()],
    ];
    return { exchange, moves };
  }
}

const timeOf = (spans: readonly Span[]): number =>
  spans.reduce((sum, [start, end]) => sum + end - start, 0);
