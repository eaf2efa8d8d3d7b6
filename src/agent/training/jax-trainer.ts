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
import {
  compile,
  type CompiledFunctions,
  type CompiledUpdate,
} from './compiled-functions.ts';
import { Evaluator, numbersOf } from './evaluator.ts';
import { GpuGradient } from '../sites/gpu-gradient.ts';
import { GpuTensors } from './gpu-tensors.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import { initialWeights } from './models/initial-weights.ts';
import { tensorLength, type Model } from './models/model.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import { scheduledRate } from './optimizers/schedule.ts';
import { LookupTables } from './lookup-tables.ts';
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
  /** The tensors that are no tables. */
  readonly #whole: readonly ParameterTensor[];
  readonly #tables: LookupTables;
  /** Whole tensors on the device; `#state` once per state vector of the optimiser. */
  #weights: JaxArray[];
  #state: JaxArray[][];
  /** Whether a tensor takes plain steps, by its place. */
  #plain: readonly boolean[];
  #update: CompiledUpdate;
  readonly #updates = new Map<string, CompiledUpdate>();
  readonly #optimizer: Optimizer;
  /**
   * The learning rate, the optimiser's factors, and a 0 that keeps jax-js from compiling a
   * single one in as a constant.
   */
  readonly #rates: Float32Array<ArrayBuffer>;
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
    this.tensors = layOut(model);
    const { id, title, format, better } = model.metric;
    this.metric = { id, title, format, better };
    this.length = this.tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const vectors = optimizer.stateVectors(options.optimizer);
    this.stateLength = vectors * this.length;
    this.#whole = this.tensors.filter((_, i) => model.tensors[i]!.rowsOf === undefined);
    this.#tables = new LookupTables(model, this.tensors, vectors);

    this.#model = model;
    this.#optimizer = optimizer;
    this.#rates = new Float32Array(this.#ratesOf(0).length + 1);
    const fields = settledFields(model.inputs, shard.lengths);
    this.#train = new BatchLoader(shard.train, fields, options.batchPerRank);
    this.#sampler = new BatchSampler({
      count: shard.train.count,
      batch: options.batchPerRank,
      seed: options.seed,
      rank: options.rank,
    });
    this.#functions = compile(runtime.jax, model, optimizer, options);
    this.#evaluator = new Evaluator({
      ...{ jax: runtime.jax, functions: this.#functions },
      ...{ model, shard, fields, options, block: parts.evaluationBlock },
      weightsFor: (loader) => this.#used(loader),
    });
    this.#plain = this.tensors.map(() => false);
    this.#update = this.#updateFor(this.#plain);
    const first = initialWeights(model, options.seed);
    this.#tables.write(first);
    this.#weights = this.#upload(first);
    const zeros = new Float32Array(this.length);
    this.#state = Array.from({ length: vectors }, () => this.#upload(zeros));
  }

  openGpuGradient(): GpuGradient | undefined {
    // Rows of tables are added up on the host.
    const isWhole = this.#whole.length === this.tensors.length;
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
      this.#used(this.#train),
      this.#train.upload(this.#jax),
    );
    if (ready === undefined) {
      await this.#oneForAll(sums[0] ?? gradients.rows[0] ?? gradients.whole[0]);
    }
    if (!(gradient instanceof Float32Array)) {
      // The loss is read behind it: when it is here, so is the gradient.
      await this.#tensorsOf(gradient).gather(gradients.whole);
    } else {
      this.#checkLength(gradient, this.length);
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
      this.#used(loader),
      loader.upload(this.#jax),
    );
    await this.#oneForAll(sums[0] ?? rows[0] ?? whole[0]);
    const ofRows = Promise.all(rows.map((array) => array.data()));
    await this.#download(whole, out);
    this.#tables.scatter((await ofRows) as Float32Array[], loader.values, out);
    this.#jax.tree.dispose([loss, sums]);
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    const averaged =
      gradient instanceof Float32Array
        ? this.#upload(gradient)
        : await this.#tensorsOf(gradient).scatter();
    this.#rates.set(this.#ratesOf(iteration));
    if (gradient instanceof Float32Array) this.#stepTables(gradient, iteration);
    const plain = this.#plainOfWhole();
    const state = this.#state.map((vector) => vector.filter((_, i) => !plain[i]));
    const [weights, next] = this.#update(
      this.#weights,
      state,
      averaged,
      this.#jax.numpy.array(this.#rates),
    );
    this.#weights = weights;
    this.#state = this.#state.map((vector, which) => {
      const moved = next[which]!.values();
      return vector.map((old, i) => (plain[i] === true ? old : moved.next().value!));
    });
    // jax-js is lazy: unasked for, updates would pile up and run in the next step.
    await this.#oneForAll(this.#weights[1]);
    await this.#jax.blockUntilReady([this.#weights, this.#state]);
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    const plain = this.tensors.map(({ name }) => tensors.has(name));
    const changed = plain.map((now, i) => now !== this.#plain[i]);
    if (!changed.includes(true)) return;
    this.#plain = plain;
    this.#update = this.#updateFor(this.#plainOfWhole());
    for (const i of changed.keys()) if (changed[i]) this.#tables.clearState(i);
    const begun = new Set(this.tensors.filter((_, i) => changed[i]));
    this.#state = this.#state.map((vector) =>
      vector.map((velocity, i) => {
        const tensor = this.#whole[i]!;
        if (!begun.has(tensor)) return velocity;
        velocity.dispose();
        const { length, shape } = tensor;
        return this.#jax.numpy.array(new Float32Array(length), { shape: [...shape] });
      }),
    );
  }

  learningRate(iteration: number): number {
    const { optimizer, iterations, world: ranks } = this.#options;
    return scheduledRate(optimizer, iteration, { iterations, ranks });
  }

  #ratesOf(iteration: number): readonly number[] {
    const { factors } = this.#optimizer;
    const rate = this.learningRate(iteration);
    return [rate, ...(factors?.(this.#options.optimizer, iteration + 1) ?? [])];
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

  async readWeights(out: Float32Array): Promise<void> {
    this.#checkLength(out, this.length);
    this.#tables.read(out);
    await this.#download(this.#jax.tree.ref(this.#weights), out);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    this.#checkLength(weights, this.length);
    this.#tables.write(weights);
    this.#jax.tree.dispose(this.#weights);
    this.#weights = this.#upload(weights);
    return Promise.resolve();
  }

  async readState(out: Float32Array): Promise<void> {
    this.#checkLength(out, this.stateLength);
    for (const [index, vector] of this.#state.entries()) {
      const flat = this.#vectorOf(out, index);
      this.#tables.read(flat, index);
      await this.#download(this.#jax.tree.ref(vector), flat);
    }
  }

  writeState(state: Float32Array): Promise<void> {
    this.#checkLength(state, this.stateLength);
    this.#jax.tree.dispose(this.#state);
    this.#state = this.#state.map((_, index) => {
      const flat = this.#vectorOf(state, index);
      this.#tables.write(flat, index);
      return this.#upload(flat);
    });
    return Promise.resolve();
  }

  close(): void {
    this.#jax.tree.dispose([this.#weights, this.#state]);
    this.#weights = [];
    this.#state = [];
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#runtime.release();
  }

  /**
   * Of a function on a GPU each result that is asked for before the steps have run waits for
   * every step by itself: with many tensors that are 10⁵ promises. So one asks for all.
   * @param last the result that needs the most steps (scripts/jax-programs.ts)
   */
  async #oneForAll(last: JaxArray | undefined): Promise<void> {
    if (this.backend !== 'webgpu' || last === undefined) return;
    await this.#jax.blockUntilReady([last]);
  }

  /** Compiled once for each set of tensors. */
  #updateFor(plain: readonly boolean[]): CompiledUpdate {
    const key = plain.map(Number).join('');
    const update = this.#updates.get(key) ?? this.#functions.update(plain);
    this.#updates.set(key, update);
    return update;
  }

  #tensorsOf(gradient: GpuGradient): GpuTensors {
    if (this.#onGpu?.gradient !== gradient) {
      throw new Error(
        'internal: a gradient on the GPU that this trainer has not opened',
      );
    }
    return this.#onGpu.tensors;
  }

  /** A state vector among all of them, flat. */
  #vectorOf(state: Float32Array, index: number): Float32Array {
    return state.subarray(index * this.length, (index + 1) * this.length);
  }

  #plainOfWhole(): readonly boolean[] {
    const whole = new Set(this.#whole);
    return this.#plain.filter((_, i) => whole.has(this.tensors[i]!));
  }

  /** The weights that a loaded batch uses. */
  #used(loader: BatchLoader): UsedWeights {
    const tables = this.#model.tensors.filter(({ rowsOf }) => rowsOf !== undefined);
    const rows = this.#tables.gather(loader.values).map((values, which) => {
      const { rowsOf, shape } = tables[which]!;
      const ofBatch = [loader.rows.length, ...loader.fields[rowsOf!]!.shape];
      return this.#jax.numpy.array(values, { shape: [...ofBatch, ...shape.slice(1)] });
    });
    // In this order, which results have as well: rows of tables come last in a backward pass.
    return { rows, whole: this.#jax.tree.ref(this.#weights) };
  }

  /** Gradients, used up, into the flat one; in backward order where it matters to somebody. */
  async #downloadGradient(
    { whole, rows }: UsedWeights,
    gradient: Float32Array,
    ready?: (from: number) => void,
  ): Promise<void> {
    if (ready === undefined) {
      const ofRows = Promise.all(rows.map((array) => array.data()));
      await this.#download(whole, gradient);
      this.#scatterRows(await ofRows, gradient);
      return;
    }
    // What is asked for first is computed first, and no more than that.
    let place = this.tensors.length;
    for (const [index, { start }] of [...this.#whole.entries()].toReversed()) {
      gradient.set(await whole[index]!.data(), start);
      const isNext = this.tensors[place - 1] === this.#whole[index];
      if (isNext) ready(this.tensors[--place]!.start);
    }
    const values: Float32Array[] = [];
    for (const array of rows.toReversed())
      values.unshift((await array.data()) as Float32Array);
    this.#scatterRows(values, gradient);
    ready(0);
  }

  #scatterRows(rows: readonly ArrayBufferView[], gradient: Float32Array): void {
    this.#tables.scatter(rows as Float32Array[], this.#train.values, gradient);
  }

  #stepTables(gradient: Float32Array, iteration: number): void {
    const { tableRule } = this.#optimizer;
    const { optimizer } = this.#options;
    const rule = tableRule?.(optimizer, this.learningRate(iteration));
    if (rule !== undefined) this.#tables.step(gradient, rule, this.#plain);
  }

  /** A flat vector as the whole tensors on the device. */
  #upload(flat: Float32Array): JaxArray[] {
    this.#checkLength(flat, this.length);
    return this.#whole.map(({ start, length, shape }) =>
      this.#jax.numpy.array(
        // jax-js only copies the bytes out, which shared memory allows as well.
        flat.subarray(start, start + length) as Float32Array<ArrayBuffer>,
        { shape: [...shape] },
      ),
    );
  }

  /** Whole tensors of the device, used up, into a flat vector. */
  async #download(arrays: readonly JaxArray[], out: Float32Array): Promise<void> {
    const values = await Promise.all(arrays.map((array) => array.data()));
    for (const [index, { start }] of this.#whole.entries()) {
      out.set(values[index]!, start);
    }
  }

  #checkLength(vector: Float32Array, length: number): void {
    if (vector.length !== length) {
      throw new Error(`internal: a vector of ${vector.length}, expected ${length}`);
    }
  }
}

/** Where each tensor lies in the flat gradient. */
function layOut(model: Model): ParameterTensor[] {
  let start = 0;
  return model.tensors.map(({ name, shape }) => {
    const tensor = { name, shape, start, length: tensorLength({ shape }) };
    start += tensor.length;
    return tensor;
  });
}

const numberOf = async (scalar: JaxArray): Promise<number> => (await scalar.data())[0]!;
