/**
 * A trainer that trains nothing: its gradients are synthetic and come at the pace of a real
 * network. It sleeps through its compute time, so that many ranks of one computer can represent
 * as many GPUs. Applied gradients are sampled at positions that change with the iteration, so
 * replicas with different averages end with different weights.
 *
 * Values are made on the CPU. If a GPU is asked for, they are uploaded within the compute
 * time, so that compression and averages are on the device as for a gradient of its own.
 */
import { NO_METRIC } from '../../shared/records/metric.ts';
import { sliceOf } from '../kernels/webgpu/gpu-vector.ts';
import { GpuGradient } from '../sites/gpu-gradient.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import type {
  EvaluationSums,
  GradientMemory,
  ParameterTensor,
  StepResult,
  Trainer,
  TrainerOptions,
} from './trainer.ts';
import type { JaxRuntime } from './runtime/jax-runtime.ts';
import { GradientSource } from './synthetic/gradient-source.ts';
import {
  lengthOf,
  type SyntheticLayer,
  type SyntheticWorkload,
} from './synthetic/synthetic-workload.ts';

/** Number of applied elements sampled per iteration. */
const LOOKED_AT = 4096;

export class SyntheticTrainer implements Trainer {
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
  readonly #runtime: JaxRuntime | undefined;
  /** Buffer as long as the longest layer, if values go to a GPU. */
  #staging: Float32Array | undefined;
  /** GPU buffer in which samples of an applied gradient are gathered. */
  #samples: GPUBuffer | undefined;
  #iteration = 0;

  /** @param runtime the GPU to upload to, released by `close`; default: values stay here */
  constructor(
    workload: SyntheticWorkload,
    options: TrainerOptions,
    runtime?: JaxRuntime,
  ) {
    const { rank, seed, synthetic } = options;
    const { distribution = 'normal', overlap = 0 } = synthetic ?? {};
    this.#workload = workload;
    this.#options = options;
    this.#runtime = runtime;
    this.#source = new GradientSource({ distribution, overlap, rank, seed });
    this.length = workload.length;
    this.parameters = workload.length;
    this.#weights = new Float32Array(Math.min(LOOKED_AT, workload.length));
    this.tensors = tensorsOf(workload.layers);
  }

  /** `webgpu` once gradients are there: an engine in its own thread has them on the host. */
  get backend(): 'wasm' | 'webgpu' {
    return this.#staging === undefined ? 'wasm' : 'webgpu';
  }

  get whyBackend(): string | undefined {
    return this.#runtime === undefined || this.#staging !== undefined
      ? undefined
      : 'a synthetic gradient stays on the CPU if the engine runs in its own thread';
  }

  get device(): string {
    const name = this.#staging === undefined ? undefined : this.#runtime?.device;
    return name ?? 'none (synthetic gradient)';
  }

  get bus(): string | undefined {
    return this.#staging === undefined ? undefined : this.#runtime?.bus;
  }

  openGpuGradient(): GpuGradient | undefined {
    if (this.#runtime === undefined) return undefined;
    const gradient = new GpuGradient(this.#runtime.jax.getWebGPUDevice(), this.length);
    this.#samples ??= gradient.gpu.allocate(this.#weights.byteLength);
    const lengths = this.#workload.layers.map(({ length }) => length);
    this.#staging ??= new Float32Array(Math.max(...lengths));
    return gradient;
  }

  loadBatch(iteration: number): void {
    this.#iteration = iteration;
  }

  async computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<StepResult> {
    const { forwardMs, layers } = this.#workload;
    let due = performance.now() + forwardMs;
    for (const { backwardMs, length, start } of layers.toReversed()) {
      this.#fill(gradient, start, length);
      due += backwardMs;
      if (ready === undefined) continue;
      this.#sleepUntil(due);
      ready(start);
    }
    if (gradient instanceof GpuGradient) {
      const { gpu } = gradient;
      await gpu.watch(() => gpu.device.queue.onSubmittedWorkDone());
    }
    this.#sleepUntil(due);
    return { loss: undefined, metric: undefined };
  }

  #fill(gradient: GradientMemory, start: number, length: number): void {
    if (!(gradient instanceof GpuGradient)) {
      const values = gradient.subarray(start, start + length);
      this.#source.fill(values, start, this.#iteration);
      return;
    }
    const values = this.#staging!.subarray(0, length);
    this.#source.fill(values, start, this.#iteration);
    gradient.gpu.write(sliceOf(gradient.vector, start, length), values);
  }

  computeFullGradient(): Promise<void> {
    throw new Error('internal: a synthetic gradient is of no samples');
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    const rate = this.learningRate(iteration);
    const stride = Math.floor(this.length / this.#weights.length);
    const first = iteration % stride;
    const applied =
      gradient instanceof GpuGradient
        ? await this.#sampled(gradient, first, stride)
        : this.#weights.map((_, i) => gradient[i * stride + first]!);
    for (const [i, value] of applied.entries()) {
      this.#weights[i] = this.#weights[i]! - rate * value;
    }
  }

  /** Every `stride`th element: only these come back. */
  async #sampled(
    { gpu, vector }: GpuGradient,
    first: number,
    stride: number,
  ): Promise<Float32Array> {
    const samples = new Float32Array(this.#weights.length);
    for (const i of samples.keys()) {
      const [element] = sliceOf(vector, i * stride + first, 1).parts;
      gpu.commands.copy(element!, this.#samples!, 4 * i);
    }
    await gpu.ring.read(this.#samples!, 0, new Uint8Array(samples.buffer));
    return samples;
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

  async *readPieces(most: number): AsyncIterable<Float32Array> {
    const piece = new Float32Array(most);
    for (let at = 0; at < this.length; at += most) {
      piece.fill(0);
      piece.set(this.#weights.subarray(at, at + most));
      yield await Promise.resolve(piece.subarray(0, this.length - at));
    }
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
    this.#samples?.destroy();
    this.#runtime?.release();
  }

  /** Blocks like computing, without using a core. */
  #sleepUntil(due: number): void {
    const left = due - performance.now();
    if (left > 0) Atomics.wait(this.#alarm, 0, 0, left);
  }
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
