/** Base of trainers on jax-js: parameters on the device, and measures. */
import type { MetricKind } from '../../shared/records/metric.ts';
import type { ClassScores } from '../../shared/numbers/ordered-pairs.ts';
import { chanceOf } from './chance.ts';
import type { ParameterArena } from './arena-parameters.ts';
import { BatchSampler } from './batches/batch-sampler.ts';
import type { RankShard } from './datasets/dataset.ts';
import type { MeasureTotals } from './measure-totals.ts';
import { ModelParameters } from './model-parameters.ts';
import { initialWeights } from './models/initial-weights.ts';
import { parameterCount, type Model, type ModelTensor } from './models/model.ts';
import type { Optimizer } from './optimizers/optimizer.ts';
import type { Jax, JaxRuntime } from './runtime/jax-runtime.ts';
import type {
  EvaluationSums,
  ParameterTensor,
  StepResult,
  Trainer,
  TrainerOptions,
} from './trainer.ts';

export interface ParameterTrainerOptions {
  readonly runtime: JaxRuntime;
  readonly model: Model;
  readonly optimizer: Optimizer;
  readonly shard: RankShard;
  readonly options: TrainerOptions;
  /** The one that computes in place of jax-js, which then only keeps the parameters. */
  readonly elsewhere?: Pick<Trainer, 'backend' | 'device'> | undefined;
}

/** Tensors of the model that a trainer has, with their indices there. */
export interface OwnTensors {
  readonly tensors: readonly ModelTensor[];
  readonly places?: readonly number[] | undefined;
}

export abstract class ParameterTrainer {
  readonly backend: Trainer['backend'];
  readonly device: string;
  readonly bus: string | undefined;
  readonly whyBackend: string | undefined;
  readonly tensors: readonly ParameterTensor[];
  readonly metric: MetricKind;
  readonly chance: number | undefined;
  readonly evaluates = true;
  readonly parameters: number;
  readonly length: number;
  readonly stateLength: number;

  protected readonly jax: Jax;
  protected readonly weights: ModelParameters;
  protected readonly sampler: BatchSampler;
  protected readonly runtime: JaxRuntime;
  readonly #model: Model;
  readonly #batch: number;
  /** The scores of the last evaluation. */
  #scores: ClassScores | undefined;

  constructor(parts: ParameterTrainerOptions, { places, tensors }: OwnTensors) {
    const { elsewhere, model, optimizer, options, runtime, shard } = parts;
    this.runtime = runtime;
    this.#model = model;
    this.#batch = options.batchPerRank;
    this.jax = runtime.jax;
    this.backend = elsewhere?.backend ?? runtime.backend;
    this.device = elsewhere?.device ?? runtime.device;
    this.bus = runtime.bus;
    this.whyBackend = runtime.why;
    const { id, title, format, better } = model.metric;
    this.metric = { id, title, format, better };
    this.chance = chanceOf(model);
    this.weights = new ModelParameters({
      runtime,
      optimizer,
      options,
      tensors,
      feeds: elsewhere === undefined,
      first: initialWeights({ tensors }, options.seed, places),
    });
    this.tensors = this.weights.tensors;
    this.length = this.weights.length;
    this.stateLength = this.weights.stateLength;
    this.parameters = parameterCount(model);
    this.sampler = new BatchSampler({
      count: shard.train.count,
      batch: options.batchPerRank,
      seed: options.seed,
      rank: options.rank,
    });
  }

  joinArena(memory: ParameterArena): Promise<void> {
    return this.weights.joinArena(memory);
  }

  takePlainSteps(tensors: ReadonlySet<string>): void {
    this.weights.takePlainSteps(tensors);
  }

  learningRate(iteration: number): number {
    return this.weights.learningRate(iteration);
  }

  measuresOf([samples, loss, ...sums]: EvaluationSums): StepResult {
    const { metric } = this.#model;
    const predictions = samples * this.#model.predictions;
    const mean = loss / predictions;
    return { loss: mean, metric: metric.value({ loss: mean, predictions, sums }) };
  }

  get scores(): ClassScores | undefined {
    return this.#scores;
  }

  readWeights(out: Float32Array): Promise<void> {
    return this.weights.readWeights(out);
  }

  writeWeights(weights: Float32Array): Promise<void> {
    return this.weights.writeWeights(weights);
  }

  readState(out: Float32Array): Promise<void> {
    return this.weights.readState(out);
  }

  writeState(state: Float32Array): Promise<void> {
    return this.weights.writeState(state);
  }

  close(): void {
    this.weights.close();
    this.runtime.release();
  }

  protected measuresOfBatch(totals: MeasureTotals): StepResult {
    const { loss, sums } = totals.result();
    return this.measuresOf([this.#batch, loss, ...sums]);
  }

  /** Keeps the scores. */
  protected evaluated(totals: MeasureTotals, samples: number): EvaluationSums {
    const { loss, scores, sums } = totals.result();
    this.#scores = scores;
    return [samples, loss, ...sums];
  }
}
