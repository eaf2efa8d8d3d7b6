/**
 * One stage of a pipeline: the layers of a model between two splits, trained by one rank
 * together with the stages before and after it. A batch passes in micro-batches, all forward
 * and then all backward, and the gradient is that of the whole batch (the schedule of GPipe,
 * Huang et al., 2019). The last stage computes the loss and its gradient at once, so that its
 * first gradients go back while others are still coming in: all of it counts as backward.
 */
import type { Passage, StageSetting } from '../pipeline/stage-setting.ts';
import { BatchLoader } from './batch-loader.ts';
import { settledFields } from './batches/batch.ts';
import { GradientSum } from './gradient-sum.ts';
import { MeasureTotals } from './measure-totals.ts';
import type { LayerOutput } from './models/layered.ts';
import type { JaxBatch } from './models/mean-loss.ts';
import { tensorLength } from './models/model.ts';
import type { ModelStage } from './models/split-model.ts';
import { ParameterTrainer, type ParameterTrainerOptions } from './parameter-trainer.ts';
import { PassClock } from './pass-clock.ts';
import type { JaxArray } from './runtime/jax-runtime.ts';
import { arrayOf, SharedTensors } from './shared-tensors.ts';
import {
  compileStage,
  type StageFunctions,
  type StageInputs,
} from './stage-functions.ts';
import type { StageLinks } from './stage-links.ts';
import type {
  ComputedStep,
  EvaluationSums,
  GradientMemory,
  StepResult,
  Trainer,
} from './trainer.ts';

/** `rank` and `world` of the options count pipelines: all stages of one see the same samples. */
export interface StageTrainerOptions extends ParameterTrainerOptions {
  readonly stage: ModelStage;
  readonly microBatches: number;
}

/**
 * Places where gradients of micro-batches are added up: tables on the host, all else on the device.
 */
interface GradientPlaces {
  readonly gradient: Float32Array;
  readonly sum: GradientSum;
}

/** A stage's data of a micro-batch. */
interface MicroBatch {
  readonly loader: BatchLoader;
  /** The previous stage's output, kept for the backward pass. */
  values: JaxArray[];
}

export class StageTrainer extends ParameterTrainer implements Trainer {
  readonly #parts: StageTrainerOptions;
  readonly #functions: StageFunctions;
  readonly #order: Uint32Array;
  readonly #microBatches: readonly MicroBatch[];
  readonly #test: BatchLoader;
  readonly #clock = new PassClock();
  readonly #shared: SharedTensors;
  #links: StageLinks | undefined;
  /** Iteration of the loaded batch. */
  #iteration = 0;

  constructor(parts: StageTrainerOptions) {
    const { microBatches, model, options, runtime, shard, stage } = parts;
    super(parts, {
      tensors: stage.tensors.map(({ tensor }) => tensor),
      places: stage.tensors.map(({ place }) => place),
    });
    this.#parts = parts;
    const samples = options.batchPerRank / microBatches;
    this.#functions = compileStage(runtime.jax, model, stage, {
      samples,
      microBatches,
    });
    const fields = settledFields(stage.fields, shard.lengths);
    this.#microBatches = Array.from({ length: microBatches }, () => ({
      loader: new BatchLoader(shard.train, fields, samples),
      values: [],
    }));
    this.#test = new BatchLoader(shard.test, fields, samples);
    this.#order = new Uint32Array(options.batchPerRank);
    this.#shared = new SharedTensors({
      jax: runtime.jax,
      stage,
      weights: this.weights,
      clock: this.#clock,
      links: () => this.#linked,
    });
  }

  stageSetting(): StageSetting {
    const { microBatches, options, stage } = this.#parts;
    const { after, before, index, shared } = stage;
    const samples = options.batchPerRank / microBatches;
    const passed = (output: LayerOutput | undefined) =>
      output && { ...output, rows: samples * output.rows };
    return {
      stage: index,
      microBatches,
      before: passed(before),
      after: passed(after),
      shared: shared.map(({ tensor }) => ({ length: tensorLength(tensor) })),
    };
  }

  /** Sets the links to other stages, before anything is computed. */
  joinPipeline(links: StageLinks): void {
    this.#links = links;
  }

  openGpuGradient(): undefined {
    // Micro-batches are added up on their way to the host.
    return undefined;
  }

  loadBatch(iteration: number): void {
    this.#iteration = iteration;
    this.sampler.fill(iteration, this.#order);
    for (const [i, { loader }] of this.#microBatches.entries()) {
      const samples = loader.rows.length;
      loader.rows.set(this.#order.subarray(i * samples, (i + 1) * samples));
      read(loader, samples);
    }
  }

  async computeGradient(gradient: GradientMemory): Promise<ComputedStep> {
    if (!(gradient instanceof Float32Array)) {
      throw new Error('internal: the gradient of a stage is on the host');
    }
    const { stage } = this.#parts;
    this.#clock.begin();
    // Not when the batch is loaded, which may be before an evaluation.
    this.#linked.begin(this.#iteration);
    await this.#shared.borrow();
    const sum = new GradientSum(this.jax);
    this.weights.tables.clear(gradient);
    let measured: StepResult = NOTHING_MEASURED;
    if (stage.head === undefined) {
      for (const i of this.#microBatches.keys()) await this.#passForward(i);
      for (const i of this.#microBatches.keys()) {
        const given = await this.#receive('backward', i, stage.after!.width);
        await this.#passBackward(i, given, { gradient, sum });
      }
    } else {
      measured = await this.#passLosses({ gradient, sum });
    }
    await this.#clock.measure('backward', () =>
      this.weights.download(sum.whole, gradient),
    );
    await this.#shared.giveBack(sum.borrowed, gradient);
    const activations = await this.#clock.measure('activations', () =>
      this.#linked.settle(),
    );
    return { ...measured, passes: this.#clock.end(), activations };
  }

  computeFullGradient(): Promise<void> {
    throw new Error('internal: a stage has no full gradient');
  }

  async applyGradient(gradient: GradientMemory, iteration: number): Promise<void> {
    await this.weights.step(gradient as Float32Array, iteration);
  }

  /** Evaluates the share of the test set; the last stage has the sums, all others 0. */
  async evaluate(): Promise<EvaluationSums> {
    const { model, stage } = this.#parts;
    const test = this.#test;
    const block = test.rows.length;
    const end = await this.#linked.measuring();
    await this.#shared.borrow();
    const totals = new MeasureTotals(model.metric);
    for (let first = 0; first < test.samples.count; first += block) {
      const filled = Math.min(block, test.samples.count - first);
      for (let row = 0; row < block; row++) {
        test.rows[row] = row < filled ? first + row : 0;
      }
      read(test, filled);
      const inputs = this.#inputs(test, await this.#given('evaluation', 0));
      const batch = test.upload(this.jax);
      if (stage.head === undefined) {
        const given = await this.#functions.forward(inputs, batch).data();
        await this.#linked.send('evaluation', 0, given as Float32Array);
        continue;
      }
      const counted = this.jax.numpy.array(test.counted);
      await totals.add(this.#functions.score(inputs, batch, counted), filled);
    }
    await this.#linked.settle();
    await end();
    return this.evaluated(totals, stage.head === undefined ? 0 : test.samples.count);
  }

  override close(): void {
    this.#shared.close();
    super.close();
  }

  get #linked(): StageLinks {
    if (this.#links === undefined) throw new Error('internal: a stage on its own');
    return this.#links;
  }

  /** Passes the previous stage's output through this stage's layers to the next. */
  async #passForward(i: number): Promise<void> {
    this.#microBatches[i]!.values = await this.#given('forward', i);
    const values = await this.#clock.measure('forward', () => {
      const { batch, inputs } = this.#inputsOf(i, true);
      return this.#functions.forward(inputs, batch).data();
    });
    await this.#send('forward', i, values as Float32Array);
  }

  /** Runs the last stage: forward and backward of one micro-batch after the other. */
  async #passLosses(to: GradientPlaces): Promise<StepResult> {
    const totals = new MeasureTotals(this.#parts.model.metric);
    for (const [i, microBatch] of this.#microBatches.entries()) {
      microBatch.values = await this.#given('forward', i);
      const gradients = await this.#clock.measure('backward', async () => {
        const { batch, inputs, loader } = this.#inputsOf(i);
        const [[loss, measures], of] = this.#functions.lossAndGradient(inputs, batch);
        await this.#add(of, loader, to);
        loss.dispose();
        await totals.add(measures, loader.rows.length);
        return of.values;
      });
      await this.#passBack(gradients, i);
    }
    return this.measuresOfBatch(totals);
  }

  /** @param given the gradient of what this stage has passed on; consumed */
  async #passBackward(i: number, given: JaxArray, to: GradientPlaces): Promise<void> {
    const values = await this.#clock.measure('backward', async () => {
      const { batch, inputs, loader } = this.#inputsOf(i);
      const gradients = this.#functions.backward(inputs, batch, given);
      await this.#add(gradients, loader, to);
      return gradients.values;
    });
    await this.#passBack(values, i);
  }

  /** @param values gradients of what the stage before gave; none in the first stage */
  async #passBack(values: readonly JaxArray[], microBatch: number): Promise<void> {
    for (const array of values) {
      const data = await this.#clock.measure('backward', () => array.data());
      await this.#send('backward', microBatch, data as Float32Array);
    }
  }

  /** A micro-batch's gradients to those before it. */
  async #add(
    { borrowed, used, values }: StageInputs,
    loader: BatchLoader,
    { gradient, sum }: GradientPlaces,
  ): Promise<void> {
    await this.weights.oneForAll(used.rows[0] ?? used.whole[0] ?? borrowed[0]);
    const rows = await Promise.all(used.rows.map((array) => array.data()));
    this.weights.tables.scatterAdd(rows as Float32Array[], loader.values, gradient);
    sum.add(used.whole, borrowed);
    // jax-js is lazy: it would compute all of this at the first request.
    await this.jax.blockUntilReady([sum.whole, sum.borrowed, values]);
  }

  #inputsOf(i: number, keeps = false) {
    const { loader, values } = this.#microBatches[i]!;
    const given = keeps ? this.jax.tree.ref(values) : values;
    return {
      loader,
      inputs: this.#inputs(loader, given),
      batch: loader.upload(this.jax) as JaxBatch,
    };
  }

  #inputs(loader: BatchLoader, values: JaxArray[]): StageInputs {
    const borrowed = this.jax.tree.ref(this.#shared.borrowed);
    return { used: this.weights.used(loader), borrowed, values };
  }

  async #send(passage: Passage, i: number, values: Float32Array): Promise<void> {
    await this.#clock.measure('activations', () =>
      this.#linked.send(passage, i, values),
    );
  }

  /** Receives from the previous stage, if any. */
  async #given(passage: Passage, i: number): Promise<JaxArray[]> {
    const { before } = this.#parts.stage;
    return before === undefined ? [] : [await this.#receive(passage, i, before.width)];
  }

  /** @returns [samples · rows, width] */
  async #receive(passage: Passage, i: number, width: number): Promise<JaxArray> {
    const received = await this.#clock.measure('activations', () =>
      this.#linked.receive(passage, i),
    );
    this.#clock.move('activations', 'bubble', received.idle);
    return arrayOf(this.jax, received.values, [-1, width]);
  }
}

/** A stage in the middle takes nothing of a batch. */
function read(loader: BatchLoader, counted: number): void {
  if (Object.keys(loader.fields).length > 0) loader.read(counted);
}

/** Result of all stages but the last, which measures. */
const NOTHING_MEASURED: StepResult = { loss: undefined, metric: undefined };
