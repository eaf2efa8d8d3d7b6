/**
 * A trainer that trains nothing: its gradients are synthetic and come at the pace of a real
 * network. It sleeps through its compute time, so that many ranks of one computer can represent
 * as many GPUs. Applied gradients are sampled at positions that change with the iteration, so
 * replicas with different averages end with different weights.
 */
import { NO_METRIC } from '../../shared/metric.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import type {
  EvaluationSums,
  GradientMemory,
  ParameterTensor,
  StepResult,
  Trainer,
  TrainerOptions,
} from './trainer.ts';
import { GradientSource } from './synthetic/gradient-source.ts';
import {
  lengthOf,
  type SyntheticLayer,
  type SyntheticWorkload,
} from './synthetic/synthetic-workload.ts';

/** Number of applied elements sampled per iteration. */
const LOOKED_AT = 4096;

export class SyntheticTrainer implements Trainer {
  readonly backend = 'wasm';
  readonly device = 'none (synthetic gradient)';
  readonly whyBackend = undefined;
  readonly tensors: readonly ParameterTensor[];
  readonly metric = NO_METRIC;
  readonly evaluates = false;
  readonly parameters: number;
  readonly length: number;
  readonly stateLength = 0;
  readonly #workload: SyntheticWorkload;
  readonly #options: TrainerOptions;
  readonly #source: GradientSource;
  /** The first of the gradient's elements; the others are 0. */
  readonly #weights: Float32Array;
  readonly #alarm = new Int32Array(new SharedArrayBuffer(4));
  #iteration = 0;

  constructor(workload: SyntheticWorkload, options: TrainerOptions) {
    const { rank, seed, synthetic } = options;
    const { distribution = 'normal', overlap = 0 } = synthetic ?? {};
    this.#workload = workload;
    this.#options = options;
    this.#source = new GradientSource({ distribution, overlap, rank, seed });
    this.length = workload.length;
    this.parameters = workload.length;
    this.#weights = new Float32Array(Math.min(LOOKED_AT, workload.length));
    this.tensors = tensorsOf(workload.layers);
  }

  openGpuGradient(): undefined {
    return undefined;
  }

  loadBatch(iteration: number): void {
    this.#iteration = iteration;
  }

  computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<StepResult> {
    const { forwardMs, layers } = this.#workload;
    const memory = onHost(gradient);
    let due = performance.now() + forwardMs;
    for (const { backwardMs, length, start } of layers.toReversed()) {
      this.#source.fill(memory.subarray(start, start + length), start, this.#iteration);
      due += backwardMs;
      if (ready === undefined) continue;
      this.#sleepUntil(due);
      ready(start);
    }
    this.#sleepUntil(due);
    return Promise.resolve({ loss: undefined, metric: undefined });
  }

  computeFullGradient(): Promise<void> {
    throw new Error('internal: a synthetic gradient is of no samples');
  }

  applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    const applied = onHost(gradient);
    const rate = this.learningRate(iteration);
    const stride = Math.floor(this.length / this.#weights.length);
    for (let i = 0; i < this.#weights.length; i++) {
      const value = applied[i * stride + (iteration % stride)]!;
      this.#weights[i] = this.#weights[i]! - rate * value;
    }
    return Promise.resolve();
  }

  takePlainSteps(): void {
    // There is no momentum.
  }

  learningRate(iteration: number): number {
    const { optimizer, iterations, world: ranks } = this.#options;
    return scheduledRate(optimizer, iteration, { iterations, ranks });
  }

  evaluate(): Promise<EvaluationSums> {
    throw new Error('internal: a synthetic gradient has nothing to evaluate');
  }

  measuresOf(): StepResult {
    return { loss: undefined, metric: undefined };
  }

  readWeights(out: Float32Array): Promise<void> {
    out.fill(0);
    out.set(this.#weights);
    return Promise.resolve();
  }

  writeWeights(weights: Float32Array): Promise<void> {
    this.#weights.set(weights.subarray(0, this.#weights.length));
    return Promise.resolve();
  }

  readState(): Promise<void> {
    return Promise.resolve();
  }

  writeState(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    // Nothing is open.
  }

  /** Blocks like computing, without using a core. */
  #sleepUntil(due: number): void {
    const left = due - performance.now();
    if (left > 0) Atomics.wait(this.#alarm, 0, 0, left);
  }
}

function onHost(gradient: GradientMemory): Float32Array {
  if (gradient instanceof Float32Array) return gradient;
  throw new Error('internal: a synthetic gradient on a GPU');
}

function tensorsOf(layers: readonly SyntheticLayer[]): ParameterTensor[] {
  return layers.flatMap(({ start: first, tensors }) => {
    let start = first;
    return tensors.map(({ name, shape }) => {
      const length = lengthOf(shape);
      const tensor = { name, shape, start, length };
      start += length;
      return tensor;
    });
  });
}
