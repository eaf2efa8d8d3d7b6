/**
 * A model replica on jax-js. Functions are compiled, each once, with fixed shapes: loss
 * and gradient of a batch; the optimiser's step over all tensors; scores of a block of
 * test samples. Weights and optimiser state stay on the device between iterations; each
 * iteration passes in the batch and the averaged gradient, and returns the gradient, the
 * loss and the hits. On a GPU the gradient may stay as well: then only the batch goes in,
 * and the loss and the hits come out. Tables are on the host; functions get only the rows
 * that the batch uses.
 *
 * Each iteration allocates only what jax-js needs for its arrays. On the wasm backend
 * the weights are the same bits on all ranks that start from the same seed and apply
 * the same averaged gradients.
 *
 * jax-js counts references: an array passed to a function is consumed, `.ref` keeps it.
 */
import { settledFields } from './batches/batch.ts';
import { BatchLoader } from './batch-loader.ts';
import { compile, type CompiledFunctions } from './compiled-functions.ts';
import { Evaluator, evaluationBlock, type Scorer } from './evaluator.ts';
import { fullGradient } from './full-gradient.ts';
import { GpuGradient } from '../sites/gpu-gradient.ts';
import { MeasureTotals } from './measure-totals.ts';
import { GpuTensors } from './gpu-tensors.ts';
import type { UsedWeights } from './models/mean-loss.ts';
import type { Model } from './models/model.ts';
import type { Metric } from './metrics/metric.ts';
import { ParameterTrainer, type ParameterTrainerOptions } from './parameter-trainer.ts';
import type {
  EvaluationSums,
  GradientMemory,
  ComputedStep,
  Trainer,
  TrainerOptions,
} from './trainer.ts';

export interface JaxTrainerOptions extends ParameterTrainerOptions {
  /** Test samples evaluated at once; default: a number that is fast. */
  readonly evaluationBlock?: number | undefined;
}

export class JaxTrainer extends ParameterTrainer implements Trainer {
  readonly #options: TrainerOptions;
  readonly #metric: Metric;
  readonly #testSamples: number;
  readonly #train: BatchLoader;
  readonly #functions: CompiledFunctions;
  readonly #evaluator: Evaluator;
  /** The flat gradient and the tensors on the GPU, if requested. */
  #onGpu: { readonly gradient: GpuGradient; readonly tensors: GpuTensors } | undefined;

  constructor(parts: JaxTrainerOptions) {
    const { model, options, runtime, shard } = parts;
    super(parts, model);
    this.#options = options;
    this.#metric = model.metric;
    this.#testSamples = shard.test.count;
    const fields = settledFields(model.inputs, shard.lengths);
    this.#train = new BatchLoader(shard.train, fields, options.batchPerRank);
    this.#functions = compile(runtime.jax, model, options);
    this.#evaluator = new Evaluator({
      model,
      shard,
      fields,
      options,
      scorer: this.#scorer(model),
      block: parts.evaluationBlock ?? evaluationBlock(model, options.batchPerRank),
    });
  }

  openGpuGradient(): GpuGradient | undefined {
    // Rows of tables are added up on the host.
    const isWhole = this.weights.whole.length === this.tensors.length;
    if (this.backend !== 'webgpu' || !isWhole) return undefined;
    const gradient = new GpuGradient(this.jax.getWebGPUDevice(), this.length);
    const tensors = new GpuTensors(this.jax, gradient, this.tensors);
    this.#onGpu?.tensors[Symbol.dispose]();
    this.#onGpu = { gradient, tensors };
    return gradient;
  }

  loadBatch(iteration: number): void {
    this.sampler.fill(iteration, this.#train.rows);
    this.#train.read(this.#train.rows.length);
  }

  computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedStep> {
    return this.runtime.watch(() => this.#computeGradient(gradient, ready));
  }

  async #computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedStep> {
    const [[loss, measures], gradients] = this.#functions.lossAndGradient(
      this.weights.used(this.#train),
      this.#train.upload(this.jax),
    );
    if (ready === undefined) {
      await this.weights.oneForAll(measures[0]);
    }
    let isFinite = false;
    if (!(gradient instanceof Float32Array)) {
      // The loss is read after the gradient: when it has arrived, so has the gradient.
      await this.#tensorsOf(gradient).gather(gradients.whole);
    } else {
      this.weights.checkLength(gradient, this.length);
      // Before the loss: to read more would compute more.
      isFinite = await this.#downloadGradient(gradients, gradient, ready);
    }
    loss.dispose();
    const totals = new MeasureTotals(this.#metric);
    await totals.add(measures, this.#options.batchPerRank);
    return { ...this.measuresOfBatch(totals), isFinite };
  }

  async computeFullGradient(out: Float32Array): Promise<void> {
    const { fields, rows: all, samples } = this.#train;
    const batch = all.length;
    await fullGradient(
      {
        samples: samples.count,
        batch,
        gradientOf: async (first, rows, part) => {
          const isWhole = rows === batch;
          const loader = isWhole ? this.#train : new BatchLoader(samples, fields, rows);
          for (let row = 0; row < rows; row++) loader.rows[row] = first + row;
          loader.read(rows);
          await this.runtime.watch(() => this.#gradientOf(loader, part));
        },
      },
      out,
    );
  }

  #scorer(model: Model): Scorer {
    const { jax } = this;
    return {
      score: (loader, statistics) => {
        const given = statistics.map((values, which) =>
          jax.numpy.array(values as Float32Array<ArrayBuffer>, {
            shape: [...model.statistics![which]!.shape],
          }),
        );
        const measures = this.#functions.score(
          this.weights.used(loader),
          loader.upload(jax),
          jax.numpy.array(loader.counted),
          given,
        );
        return Promise.resolve(measures);
      },
      statistics: (loader) => {
        const given = this.#functions.statistics(
          this.weights.used(loader),
          loader.upload(jax),
        );
        return Promise.all(given.map((array) => array.data()));
      },
    };
  }

  /** Writes the gradient of the loaded samples to `out` and releases everything else. */
  async #gradientOf(loader: BatchLoader, out: Float32Array): Promise<void> {
    const [[loss, measures], { rows, whole }] = this.#functions.lossAndGradient(
      this.weights.used(loader),
      loader.upload(this.jax),
    );
    await this.weights.oneForAll(measures[0]);
    const ofRows = Promise.all(rows.map((array) => array.data()));
    await this.weights.download(whole, out);
    this.weights.tables.scatter((await ofRows) as Float32Array[], loader.values, out);
    this.jax.tree.dispose([loss, measures]);
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    const averaged =
      gradient instanceof Float32Array
        ? gradient
        : await this.runtime.watch(() => this.#tensorsOf(gradient).scatter());
    await this.weights.step(averaged, iteration);
  }

  async evaluate(): Promise<EvaluationSums> {
    const totals = await this.runtime.watch(() => this.#evaluator.evaluate());
    return this.evaluated(totals, this.#testSamples);
  }

  override close(): void {
    this.#onGpu?.tensors[Symbol.dispose]();
    super.close();
  }

  #tensorsOf(gradient: GpuGradient): GpuTensors {
    if (this.#onGpu?.gradient !== gradient) {
      throw new Error(
        'internal: a gradient on the GPU that this trainer has not opened',
      );
    }
    return this.#onGpu.tensors;
  }

  /**
   * Writes gradients, consuming them, to the flat one, in backward order if progress is
   * reported. Resolves to whether they are known to be finite.
   */
  async #downloadGradient(
    { whole, rows }: UsedWeights,
    gradient: Float32Array,
    ready?: (from: number) => void,
  ): Promise<boolean> {
    if (ready === undefined) {
      const ofRows = Promise.all(rows.map((array) => array.data()));
      const isFinite = await this.weights.download(whole, gradient);
      this.#scatterRows(await ofRows, gradient);
      return isFinite && rows.length === 0;
    }
    // jax-js computes what is requested first, and no more than that.
    let place = this.tensors.length;
    for (let index = this.weights.whole.length - 1; index >= 0; index--) {
      await this.weights.download([whole[index]!], gradient, index);
      const isNext = this.tensors[place - 1] === this.weights.whole[index];
      // What is ready is exchanged at once.
      this.runtime.check();
      if (isNext) ready(this.tensors[--place]!.start);
    }
    const values: Float32Array[] = [];
    for (const array of rows.toReversed())
      values.unshift((await array.data()) as Float32Array);
    this.#scatterRows(values, gradient);
    this.runtime.check();
    ready(0);
    return false;
  }

  #scatterRows(rows: readonly ArrayBufferView[], gradient: Float32Array): void {
    this.weights.tables.scatter(rows as Float32Array[], this.#train.values, gradient);
  }
}
