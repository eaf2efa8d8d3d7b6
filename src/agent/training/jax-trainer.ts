/**
 * A model replica on jax-js. Functions are compiled, each once, with fixed shapes: loss and
 * gradient of a batch; the optimiser's step over all tensors; scores of a block of test
 * samples. Weights and optimiser state stay on the device between
 * iterations; per iteration the batch and the averaged gradient go in, the gradient, the
 * loss and the hits come out. On a GPU the gradient may stay as well: then the batch goes
 * in, the loss and the hits come out. Tables lie on the host: of them the functions get the
 * rows that the batch uses.
 *
 * Per iteration no more is allocated here than what jax-js needs for its arrays. On the
 * wasm backend the weights are the same bits on all ranks that start from the same seed
 * and apply the same averaged gradients.
 *
 * jax-js counts references: an array passed to a function is used up, `.ref` keeps it.
 */
import type { MetricKind } from '../../shared/metric.ts';
import { settledFields } from './batches/batch.ts';
import type { RankShard } from './datasets/dataset.ts';
import { BatchSampler } from './batches/batch-sampler.ts';
import { BatchLoader } from './batch-loader.ts';
import { compile, type CompiledFunctions } from './compiled-functions.ts';
import { Evaluator, numbersOf } from './evaluator.ts';
import { GpuGradient } from '../sites/gpu-gradient.ts';
import { GpuTensors } from './gpu-tensors.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import { initialWeights } from './models/initial-weights.ts';
import type { Model } from './models/model.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { ModelParameters } from './model-parameters.ts';
import type {
  EvaluationSums,
  GradientMemory,
  ParameterTensor,
  StepResult,
  Trainer,
  TrainerOptions,
} from './trainer.ts';

export interface JaxTrainerParts {
  readonly runtime: JaxRuntime;
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly shard: RankShard;
  readonly options: TrainerOptions;
  /** Test samples evaluated at once; default: as many as are quick. */
  readonly evaluationBlock?: number | undefined;
}

export class JaxTrainer implements Trainer {
  readonly backend: 'wasm' | 'webgpu';
  readonly device: string;
  readonly whyBackend: string | undefined;
  readonly tensors: readonly ParameterTensor[];
  readonly metric: MetricKind;
  readonly evaluates = true;
  readonly parameters: number;
  readonly length: number;
  readonly stateLength: number;

  readonly #runtime: JaxRuntime;
  readonly #jax: Jax;
  readonly #options: TrainerOptions;
  readonly #model: Model;
  readonly #train: BatchLoader;
  readonly #sampler: BatchSampler;
  readonly #functions: CompiledFunctions;
  readonly #evaluator: Evaluator;
  readonly #parameters: ModelParameters;
  /** The tensors beside the flat gradient on the GPU, where one was asked for. */
  #onGpu: { readonly gradient: GpuGradient; readonly tensors: GpuTensors } | undefined;

  constructor(parts: JaxTrainerParts) {
    const { runtime, model, optimizer, shard, options } = parts;
    this.#runtime = runtime;
    this.#jax = runtime.jax;
    this.backend = runtime.backend;
    this.device = runtime.device;
    this.whyBackend = runtime.why;
    this.#options = options;
    const { id, title, format, better } = model.metric;
    this.metric = { id, title, format, better };
    this.#model = model;
    this.#parameters = new ModelParameters({
      ...{ runtime, optimizer, options, tensors: model.tensors },
      first: initialWeights(model, options.seed),
    });
    const { length, stateLength, tensors } = this.#parameters;
    this.tensors = tensors;
    this.length = length;
    this.parameters = length;
    this.stateLength = stateLength;
    const fields = settledFields(model.inputs, shard.lengths);
    this.#train = new BatchLoader(shard.train, fields, options.batchPerRank);
    this.#sampler = new BatchSampler({
      count: shard.train.count,
      batch: options.batchPerRank,
      seed: options.seed,
      rank: options.rank,
    });
    this.#functions = compile(runtime.jax, model, options);
    this.#evaluator = new Evaluator({
      ...{ jax: runtime.jax, functions: this.#functions },
      ...{ model, shard, fields, options, block: parts.evaluationBlock },
      weightsFor: (loader) => this.#parameters.used(loader),
    });
  }

  openGpuGradient(): GpuGradient | undefined {
    // Rows of tables are added up on the host.
    const isWhole = this.#parameters.whole.length === this.tensors.length;
    if (this.backend !== 'webgpu' || !isWhole) return undefined;
    const gradient = new GpuGradient(this.#jax.getWebGPUDevice(), this.length);
    const tensors = new GpuTensors(this.#jax, gradient, this.tensors);
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#onGpu = { gradient, tensors };
    return gradient;
  }

  loadBatch(iteration: number): void {
    this.#sampler.fill(iteration, this.#train.rows);
    this.#train.read(this.#train.rows.length);
  }

  async computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<StepResult> {
    const [[loss, sums], gradients] = this.#functions.lossAndGradient(
      this.#parameters.used(this.#train),
      this.#train.upload(this.#jax),
    );
    if (ready === undefined) {
      await this.#parameters.oneForAll(
        sums[0] ?? gradients.rows[0] ?? gradients.whole[0],
      );
    }
    if (!(gradient instanceof Float32Array)) {
      // The loss is read behind it: when it is here, so is the gradient.
      await this.#tensorsOf(gradient).gather(gradients.whole);
    } else {
      this.#parameters.checkLength(gradient, this.length);
      // Before the loss: to read more would compute more.
      await this.#downloadGradient(gradients, gradient, ready);
    }
    const [lossValue, sumValues] = await Promise.all([numberOf(loss), numbersOf(sums)]);
    return this.#measures(lossValue, this.#options.batchPerRank, sumValues);
  }

  async computeFullGradient(out: Float32Array): Promise<void> {
    const { count } = this.#train.samples;
    const batch = this.#train.rows.length;
    const sum = new Float64Array(this.length);
    const part = new Float32Array(this.length);
    for (let first = 0; first < count; first += batch) {
      const rows = Math.min(batch, count - first);
      const loader =
        rows === batch
          ? this.#train
          : new BatchLoader(this.#train.samples, this.#train.fields, rows);
      for (let row = 0; row < rows; row++) loader.rows[row] = first + row;
      loader.read(rows);
      part.fill(0);
      await this.#gradientOf(loader, part);
      for (let i = 0; i < sum.length; i++) sum[i] = sum[i]! + part[i]!;
    }
    // However many samples a batch has, its gradient is a sum over them by that of a whole one.
    for (let i = 0; i < sum.length; i++) out[i] = (sum[i]! * batch) / count;
  }

  /** Of the samples that are loaded; what else there is is let go. */
  async #gradientOf(loader: BatchLoader, out: Float32Array): Promise<void> {
    const [[loss, sums], { rows, whole }] = this.#functions.lossAndGradient(
      this.#parameters.used(loader),
      loader.upload(this.#jax),
    );
    await this.#parameters.oneForAll(sums[0] ?? rows[0] ?? whole[0]);
    const ofRows = Promise.all(rows.map((array) => array.data()));
    await this.#parameters.download(whole, out);
    this.#parameters.tables.scatter(
      (await ofRows) as Float32Array[],
      loader.values,
      out,
    );
    this.#jax.tree.dispose([loss, sums]);
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    if (gradient instanceof Float32Array) {
      const averaged = this.#parameters.upload(gradient);
      await this.#parameters.step(averaged, gradient, iteration);
      return;
    }
    const averaged = await this.#tensorsOf(gradient).scatter();
    await this.#parameters.step(averaged, undefined, iteration);
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    this.#parameters.takePlainSteps(tensors);
  }

  learningRate(iteration: number): number {
    return this.#parameters.learningRate(iteration);
  }

  evaluate(): Promise<EvaluationSums> {
    return this.#evaluator.evaluate();
  }

  measuresOf([samples, loss, ...sums]: EvaluationSums): StepResult {
    return this.#measures(loss / (samples * this.#model.predictions), samples, sums);
  }

  /** `loss`: the mean of a prediction's. */
  #measures(loss: number, samples: number, sums: readonly number[]): StepResult {
    const { metric, predictions } = this.#model;
    const value = metric.value({ loss, predictions: samples * predictions, sums });
    return { loss, metric: value };
  }

  readWeights(out: Float32Array): Promise<void> {
    return this.#parameters.readWeights(out);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    return this.#parameters.writeWeights(weights);
  }

  readState(out: Float32Array): Promise<void> {
    return this.#parameters.readState(out);
  }

  writeState(state: Float32Array): Promise<void> {
    return this.#parameters.writeState(state);
  }

  close(): void {
    this.#parameters.close();
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#runtime.release();
  }

  #tensorsOf(gradient: GpuGradient): GpuTensors {
    if (this.#onGpu?.gradient !== gradient) {
      throw new Error(
        'internal: a gradient on the GPU that this trainer has not opened',
      );
    }
    return this.#onGpu.tensors;
  }

  /** Gradients, used up, into the flat one; in backward order where it matters to somebody. */
  async #downloadGradient(
    { whole, rows }: UsedWeights,
    gradient: Float32Array,
    ready?: (from: number) => void,
  ): Promise<void> {
    if (ready === undefined) {
      const ofRows = Promise.all(rows.map((array) => array.data()));
      await this.#parameters.download(whole, gradient);
      this.#scatterRows(await ofRows, gradient);
      return;
    }
    // What is asked for first is computed first, and no more than that.
    let place = this.tensors.length;
    for (const [index, { start }] of [
      ...this.#parameters.whole.entries(),
    ].toReversed()) {
      gradient.set(await whole[index]!.data(), start);
      const isNext = this.tensors[place - 1] === this.#parameters.whole[index];
      if (isNext) ready(this.tensors[--place]!.start);
    }
    const values: Float32Array[] = [];
    for (const array of rows.toReversed())
      values.unshift((await array.data()) as Float32Array);
    this.#scatterRows(values, gradient);
    ready(0);
  }

  #scatterRows(rows: readonly ArrayBufferView[], gradient: Float32Array): void {
    this.#parameters.tables.scatter(
      rows as Float32Array[],
      this.#train.values,
      gradient,
    );
  }
}

const numberOf = async (scalar: JaxArray): Promise<number> => (await scalar.data())[0]!;
