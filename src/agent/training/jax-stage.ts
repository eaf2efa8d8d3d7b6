/** A stage's layers, computed by jax-js. */
import { BatchLoader } from './batch-loader.ts';
import { settledFields } from './batches/batch.ts';
import type { RankShard } from './datasets/dataset.ts';
import { GradientSum } from './gradient-sum.ts';
import type { Measure } from './measure-totals.ts';
import type { ModelParameters } from './model-parameters.ts';
import type { JaxBatch } from './models/mean-loss.ts';
import type { Model } from './models/model.ts';
import type { ModelStage } from './models/split-model.ts';
import type { Jax, JaxArray, JaxRuntime } from './runtime/jax-runtime.ts';
import type { StageComputer, StageLosses } from './stage-computer.ts';
import {
  borrowedShapes,
  compileStage,
  type StageFunctions,
  type StageInputs,
  type StageSizes,
} from './stage-functions.ts';

interface JaxStageOptions extends StageSizes {
  readonly runtime: JaxRuntime;
  readonly model: Model;
  readonly stage: ModelStage;
  readonly shard: RankShard;
  readonly weights: ModelParameters;
}

export class JaxStage implements StageComputer {
  readonly microBatches: readonly BatchLoader[];
  readonly test: BatchLoader;
  readonly #parts: JaxStageOptions;
  readonly #jax: Jax;
  readonly #functions: StageFunctions;
  /** Values from the stage before, of each micro-batch, kept for the backward pass. */
  readonly #values: JaxArray[][];
  #borrowed: JaxArray[] = [];
  #sum: GradientSum;
  #gradient: Float32Array = new Float32Array();

  constructor(parts: JaxStageOptions) {
    const { microBatches, model, runtime, samples, shard, stage } = parts;
    const { jax } = runtime;
    this.#parts = parts;
    this.#jax = jax;
    this.#functions = compileStage(jax, model, stage, { samples, microBatches });
    const fields = settledFields(stage.fields, shard.lengths);
    this.microBatches = Array.from(
      { length: microBatches },
      () => new BatchLoader(shard.train, fields, samples),
    );
    this.test = new BatchLoader(shard.test, fields, samples);
    this.#values = this.microBatches.map(() => []);
    this.#sum = new GradientSum(jax);
  }

  borrow(values: readonly Float32Array[]): void {
    const shapes = borrowedShapes(this.#parts.stage);
    const borrowed = values.map((each, i) => arrayOf(this.#jax, each, shapes[i]!));
    this.#jax.tree.dispose(this.#borrowed);
    this.#borrowed = borrowed;
  }

  begin(gradient: Float32Array): void {
    this.#gradient = gradient;
    this.#sum = new GradientSum(this.#jax);
    this.#parts.weights.tables.clear(gradient);
  }

  forward(i: number, before: Float32Array | undefined): Promise<Float32Array> {
    return this.#watch(async () => {
      this.#values[i] = this.#given(before);
      const { batch, inputs } = this.#inputsOf(i, true);
      return (await this.#functions.forward(inputs, batch).data()) as Float32Array;
    });
  }

  backward(i: number, after: Float32Array): Promise<Float32Array | undefined> {
    return this.#watch(async () => {
      const given = arrayOf(this.#jax, after, [-1, this.#parts.stage.after!.width]);
      const { batch, inputs, loader } = this.#inputsOf(i);
      const gradients = this.#functions.backward(inputs, batch, given);
      await this.#add(gradients, loader);
      return await dataOf(gradients.values);
    });
  }

  losses(i: number, before: Float32Array | undefined): Promise<StageLosses> {
    return this.#watch(async () => {
      this.#values[i] = this.#given(before);
      const { batch, inputs, loader } = this.#inputsOf(i);
      const [[loss, measures], of] = this.#functions.lossAndGradient(inputs, batch);
      await this.#add(of, loader);
      loss.dispose();
      return { measures, back: await dataOf(of.values) };
    });
  }

  finish(): Promise<readonly Float32Array[]> {
    return this.#watch(async () => {
      const { borrowed, whole } = this.#sum;
      await this.#parts.weights.download(whole, this.#gradient);
      const data = await Promise.all(borrowed.map((array) => array.data()));
      return data as Float32Array[];
    });
  }

  pass(before: Float32Array | undefined): Promise<Float32Array> {
    return this.#watch(async () => {
      const inputs = this.#inputs(this.test, this.#given(before));
      const batch = this.test.upload(this.#jax);
      return (await this.#functions.forward(inputs, batch).data()) as Float32Array;
    });
  }

  score(before: Float32Array | undefined): Promise<readonly Measure[]> {
    const inputs = this.#inputs(this.test, this.#given(before));
    const batch = this.test.upload(this.#jax);
    const counted = this.#jax.numpy.array(this.test.counted);
    return Promise.resolve(this.#functions.score(inputs, batch, counted));
  }

  close(): void {
    this.#jax.tree.dispose(this.#borrowed);
    this.#borrowed = [];
  }

  /** Nothing is passed on to another stage before it is known to be right. */
  #watch<T>(results: () => Promise<T>): Promise<T> {
    return this.#parts.runtime.watch(results);
  }

  /** A micro-batch's gradients to those before it. */
  async #add(
    { borrowed, used, values }: StageInputs,
    loader: BatchLoader,
  ): Promise<void> {
    const { weights } = this.#parts;
    await weights.oneForAll(used.rows[0] ?? used.whole[0] ?? borrowed[0]);
    const rows = await Promise.all(used.rows.map((array) => array.data()));
    weights.tables.scatterAdd(rows as Float32Array[], loader.values, this.#gradient);
    const sum = this.#sum;
    sum.add(used.whole, borrowed);
    // jax-js is lazy: it would compute all of this at the first request.
    await this.#jax.blockUntilReady([sum.whole, sum.borrowed, values]);
  }

  #inputsOf(i: number, keeps = false) {
    const loader = this.microBatches[i]!;
    const values = this.#values[i]!;
    const given = keeps ? this.#jax.tree.ref(values) : values;
    return {
      loader,
      inputs: this.#inputs(loader, given),
      batch: loader.upload(this.#jax) as JaxBatch,
    };
  }

  #inputs(loader: BatchLoader, values: JaxArray[]): StageInputs {
    const borrowed = this.#jax.tree.ref(this.#borrowed);
    return { used: this.#parts.weights.used(loader), borrowed, values };
  }

  #given(before: Float32Array | undefined): JaxArray[] {
    if (before === undefined) return [];
    return [arrayOf(this.#jax, before, [-1, this.#parts.stage.before!.width])];
  }
}

/** Gradients of what the stage before gave; none in the first stage. */
const dataOf = async ([values]: readonly JaxArray[]) =>
  (await values?.data()) as Float32Array | undefined;

/** jax-js copies the bytes out, which shared memory allows as well. */
const arrayOf = (jax: Jax, values: Float32Array, shape: readonly number[]): JaxArray =>
  jax.numpy
    .array(values as Float32Array<ArrayBuffer>, { shape: [values.length] })
    .reshape([...shape]);
