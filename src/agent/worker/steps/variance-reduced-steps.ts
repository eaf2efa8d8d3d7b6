/**
 * SVRG: every T iterations all ranks keep a snapshot y of the weights and average the gradient
 * of all of their samples at y, μ, uncompressed. In between a batch's gradient is ∇f(x) −
 * ∇f(y) + μ: unbiased, and with ever less noise as x and y come near the minimum. With a
 * method that rounds at random it is QSVRG, which converges linearly if f is strongly convex,
 * because the rounded vector becomes small.
 *
 * Cost: a second gradient in each iteration, with weights written twice and read once; every
 * `every` iterations a pass over all training samples and a dense average. 20·n bytes.
 *
 * Sources: Johnson and Zhang, "Accelerating Stochastic Gradient Descent using Predictive
 * Variance Reduction", NIPS 2013; QSGD (Alistarh et al., NIPS 2017), appendix B.
 */
import type { Arena, Vector } from '../../memory/arena.ts';
import { BatchGradients } from '../trainers/batch-gradients.ts';
import { isDue, type Steps, type StepsOptions, type TakenStep } from './steps.ts';

export interface VarianceReducedStepsOptions extends StepsOptions {
  /** Iterations from one full gradient to the next. */
  readonly every: number;
  readonly arena: Arena;
  /** The flat gradient: the trainer writes it, the engine reads it. */
  readonly gradient: Float32Array;
}

export class VarianceReducedSteps implements Steps {
  readonly #options: VarianceReducedStepsOptions;
  readonly #gradients: BatchGradients;
  /** y, and μ. */
  readonly #snapshot: Float32Array;
  readonly #full: Float32Array;
  readonly #weights: Float32Array;
  /** The batch's gradient at y. */
  readonly #there: Float32Array;
  #averaged: Vector | undefined;

  constructor(options: VarianceReducedStepsOptions) {
    const { length } = options.trainer;
    this.#options = options;
    this.#gradients = new BatchGradients(options.trainer);
    this.#snapshot = new Float32Array(length);
    this.#full = new Float32Array(length);
    this.#weights = new Float32Array(length);
    this.#there = new Float32Array(length);
  }

  get exchanged(): Float32Array {
    return this.#options.gradient;
  }

  get state(): readonly Float32Array[] {
    return [this.#snapshot, this.#full];
  }

  since(iteration: number): number {
    return iteration;
  }

  exchangesIn(): boolean {
    return true;
  }

  async take(iteration: number, compares: boolean): Promise<TakenStep> {
    const { comparison, engine, every, gradient, rank, spec, trainer } = this.#options;
    const { requireFinite } = this.#options;
    const full = iteration % every === 0 ? await this.#takeSnapshot() : NO_TIME;
    const computed = await this.#gradients.compute(iteration, gradient);
    const correcting = performance.now();
    await this.#correct(gradient);
    const compute = computed.compute + performance.now() - correcting;
    if (compares) await comparison.keep(gradient);
    const exchange = await engine.call('exchange', {
      iteration,
      lr: trainer.learningRate(iteration),
      inspects: rank === 0 && isDue(spec.inspectEvery, { since: iteration, iteration }),
    });
    requireFinite(computed.step, iteration);
    const applying = performance.now();
    await trainer.applyGradient(gradient, iteration);
    return {
      ...computed,
      compute: compute + full.compute,
      apply: performance.now() - applying,
      exchange,
      averages: full.averages,
      staleness: 0,
      elsewhere: 0,
    };
  }

  async #takeSnapshot(): Promise<Pick<TakenStep, 'compute' | 'averages'>> {
    const { arena, engine, trainer } = this.#options;
    const start = performance.now();
    await trainer.readWeights(this.#snapshot);
    await trainer.computeFullGradient(this.#full);
    const compute = performance.now() - start;
    this.#averaged ??= (
      await engine.call('allocate', { length: trainer.length })
    ).vector;
    const shared = arena.f32(this.#averaged);
    shared.set(this.#full);
    const { profile } = await engine.call('average', { vector: this.#averaged });
    this.#full.set(shared);
    return { compute, averages: [profile] };
  }

  /** Turns a batch's gradient at the weights into the one with less noise. */
  async #correct(gradient: Float32Array): Promise<void> {
    const { trainer } = this.#options;
    const there = this.#there;
    await trainer.readWeights(this.#weights);
    await trainer.writeWeights(this.#snapshot);
    await trainer.computeGradient(there);
    await trainer.writeWeights(this.#weights);
    for (let i = 0; i < gradient.length; i++) {
      gradient[i] = gradient[i]! - there[i]! + this.#full[i]!;
    }
  }
}

const NO_TIME = { compute: 0, averages: [] };
