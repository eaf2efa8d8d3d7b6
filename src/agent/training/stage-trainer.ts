/**
 * One stage of a pipeline: the layers of a model between two splits, trained by one rank
 * together with the stages before and after it. A batch passes in micro-batches, all forward
 * and then all backward, and the gradient is that of the whole batch (the schedule of GPipe,
 * Huang et al., 2019). The last stage computes the loss and its gradient at once, so that its
 * first gradients go back while others are still coming in: all of it counts as backward.
 */
import type { Passage, StageSetting } from '../pipeline/stage-setting.ts';
import type { ParameterArena } from './arena-parameters.ts';
import type { BatchLoader } from './batch-loader.ts';
import { MeasureTotals } from './measure-totals.ts';
import type { ModelParameters } from './model-parameters.ts';
import type { LayerOutput } from './models/layered.ts';
import { tensorLength } from './models/model.ts';
import type { ModelStage } from './models/split-model.ts';
import { ParameterTrainer, type ParameterTrainerOptions } from './parameter-trainer.ts';
import { PassClock } from './pass-clock.ts';
import { SharedTensors } from './shared-tensors.ts';
import type { StageComputer } from './stage-computer.ts';
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
  readonly computer: (weights: ModelParameters) => StageComputer;
}

export class StageTrainer extends ParameterTrainer implements Trainer {
  readonly #parts: StageTrainerOptions;
  readonly #computer: StageComputer;
  readonly #order: Uint32Array;
  readonly #clock = new PassClock();
  readonly #shared: SharedTensors;
  #links: StageLinks | undefined;
  /** Iteration of the loaded batch. */
  #iteration = 0;

  constructor(parts: StageTrainerOptions) {
    const { computer, options, stage } = parts;
    super(parts, {
      tensors: stage.tensors.map(({ tensor }) => tensor),
      places: stage.tensors.map(({ place }) => place),
    });
    this.#parts = parts;
    this.#computer = computer(this.weights);
    this.#order = new Uint32Array(options.batchPerRank);
    this.#shared = new SharedTensors({
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

  override async joinArena(memory: ParameterArena): Promise<void> {
    await super.joinArena(memory);
    await this.#computer.joinArena?.(memory);
  }

  openGpuGradient(): undefined {
    // Micro-batches are added up on their way to the host.
    return undefined;
  }

  loadBatch(iteration: number): void {
    this.#iteration = iteration;
    this.sampler.fill(iteration, this.#order);
    for (const [i, loader] of this.#computer.microBatches.entries()) {
      const samples = loader.rows.length;
      loader.rows.set(this.#order.subarray(i * samples, (i + 1) * samples));
      read(loader, samples);
    }
  }

  computeGradient(gradient: GradientMemory): Promise<ComputedStep> {
    if (!(gradient instanceof Float32Array)) {
      throw new Error('internal: the gradient of a stage is on the host');
    }
    return this.runtime.watch(() => this.#computeGradient(gradient));
  }

  async #computeGradient(gradient: Float32Array): Promise<ComputedStep> {
    const computer = this.#computer;
    this.#clock.begin();
    // Not when the batch is loaded, which may be before an evaluation.
    this.#linked.begin(this.#iteration);
    await this.#borrow();
    computer.begin(gradient);
    let measured: StepResult = NOTHING_MEASURED;
    if (this.#parts.stage.head === undefined) {
      for (const i of computer.microBatches.keys()) await this.#passForward(i);
      for (const i of computer.microBatches.keys()) await this.#passBackward(i);
    } else {
      measured = await this.#passLosses();
    }
    const borrowed = await this.#clock.measure('backward', () => computer.finish());
    await this.#shared.giveBack(borrowed, gradient);
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
    this.#computer.moved?.();
  }

  override async writeWeights(weights: Float32Array): Promise<void> {
    await super.writeWeights(weights);
    this.#computer.moved?.();
  }

  /** Evaluates the share of the test set; the last stage has the sums, all others 0. */
  evaluate(): Promise<EvaluationSums> {
    return this.runtime.watch(() => this.#evaluate());
  }

  async #evaluate(): Promise<EvaluationSums> {
    const { model, stage } = this.#parts;
    const { test } = this.#computer;
    const block = test.rows.length;
    const end = await this.#linked.measuring();
    await this.#borrow();
    const totals = new MeasureTotals(model.metric);
    for (let first = 0; first < test.samples.count; first += block) {
      const filled = Math.min(block, test.samples.count - first);
      for (let row = 0; row < block; row++) {
        test.rows[row] = row < filled ? first + row : 0;
      }
      read(test, filled);
      const before = await this.#before('evaluation', 0);
      if (stage.head === undefined) {
        const given = await this.#computer.pass(before);
        await this.#linked.send('evaluation', 0, given);
        continue;
      }
      await totals.add(await this.#computer.score(before), filled);
    }
    await this.#linked.settle();
    await end();
    return this.evaluated(totals, stage.head === undefined ? 0 : test.samples.count);
  }

  override close(): void {
    this.#computer.close?.();
    super.close();
  }

  get #linked(): StageLinks {
    if (this.#links === undefined) throw new Error('internal: a stage on its own');
    return this.#links;
  }

  async #borrow(): Promise<void> {
    if (this.#parts.stage.shared.length === 0) return;
    this.#computer.borrow(await this.#shared.borrow());
  }

  /** Passes the previous stage's output through this stage's layers to the next. */
  async #passForward(i: number): Promise<void> {
    const before = await this.#before('forward', i);
    const values = await this.#clock.measure('forward', () =>
      this.#computer.forward(i, before),
    );
    await this.#send('forward', i, values);
  }

  async #passBackward(i: number): Promise<void> {
    const after = await this.#receive('backward', i);
    const back = await this.#clock.measure('backward', () =>
      this.#computer.backward(i, after),
    );
    if (back !== undefined) await this.#send('backward', i, back);
  }

  /** Runs the last stage: forward and backward of one micro-batch after the other. */
  async #passLosses(): Promise<StepResult> {
    const totals = new MeasureTotals(this.#parts.model.metric);
    for (const [i, loader] of this.#computer.microBatches.entries()) {
      const before = await this.#before('forward', i);
      const back = await this.#clock.measure('backward', async () => {
        const losses = await this.#computer.losses(i, before);
        await totals.add(losses.measures, loader.rows.length);
        return losses.back;
      });
      if (back !== undefined) await this.#send('backward', i, back);
    }
    return this.measuresOfBatch(totals);
  }

  async #send(passage: Passage, i: number, values: Float32Array): Promise<void> {
    await this.#clock.measure('activations', () =>
      this.#linked.send(passage, i, values),
    );
  }

  /** Receives from the previous stage, if any. */
  async #before(passage: Passage, i: number): Promise<Float32Array | undefined> {
    const { before } = this.#parts.stage;
    return before === undefined ? undefined : await this.#receive(passage, i);
  }

  async #receive(passage: Passage, i: number): Promise<Float32Array> {
    const received = await this.#clock.measure('activations', () =>
      this.#linked.receive(passage, i),
    );
    this.#clock.move('activations', 'bubble', received.idle);
    return received.values;
  }
}

/** A stage in the middle takes nothing of a batch. */
function read(loader: BatchLoader, counted: number): void {
  if (Object.keys(loader.fields).length > 0) loader.read(counted);
}

/** Result of all stages but the last, which measures. */
const NOTHING_MEASURED: StepResult = { loss: undefined, metric: undefined };
