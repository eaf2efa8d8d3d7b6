/**
 * The worker's interface to training: a model replica that computes loss and gradient
 * of a batch into a flat f32 vector, and applies an averaged one. Data parallel: every
 * rank holds the same weights and sees its own shard of the data.
 */
import type { MetricKind } from '../../shared/records/metric.ts';
import type { ClassScores } from '../../shared/numbers/ordered-pairs.ts';
import type { PipelinePhase } from '../../shared/records/phases.ts';
import type { PassedActivations, StageSetting } from '../pipeline/stage-setting.ts';
import type { SyntheticSpec } from '../../shared/spec/workload-spec.ts';
import type { RankOnMachine } from '../gpus/machine-gpus.ts';
import type { GpuGradient } from '../sites/gpu-gradient.ts';
import type { ParameterArena } from './arena-parameters.ts';
import type { ColumnNames } from './datasets/dataset.ts';
import type { OptimizerSettings } from './optimizers/optimizer.ts';
import type { ScheduleSettings } from './optimizers/schedule.ts';
import type { StageLinks } from './stage-links.ts';

/** A parameter tensor; `start` is its first element in the flat gradient. */
export interface ParameterTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly start: number;
  readonly length: number;
  /** Index of the model that it belongs to, where models step in turns. */
  readonly model?: number | undefined;
}

export interface StepResult {
  /** Mean loss; undefined if nothing is trained. */
  readonly loss: number | undefined;
  /** The model's metric over the samples; undefined if it has no meaning for them. */
  readonly metric: number | undefined;
}

/** Times of a pipeline stage's passes, ms. */
export type PassTimes = Readonly<Record<PipelinePhase, number>>;

export interface ComputedStep extends StepResult {
  /** Whether the gradient is known to be finite, because that was seen as it was copied. */
  readonly isFinite?: boolean | undefined;
  /** Times of the passes, for a stage in a pipeline or a program of one's own. */
  readonly passes?: Partial<PassTimes> | undefined;
  /** Activations sent to other stages. */
  readonly activations?: PassedActivations | undefined;
}

/**
 * Sums over samples: those of several ranks can be added, one by one, except for pairs of samples
 * (`PairMetric`), of which the sum lacks those of two ranks.
 */
export type EvaluationSums = readonly [
  samples: number,
  loss: number,
  ...sums: readonly number[],
];

/** Memory of a flat gradient: on the host, or on the trainer's GPU. */
export type GradientMemory = Float32Array | GpuGradient;

export interface Trainer {
  /** The backend in use: `auto` has been resolved. */
  readonly backend: 'wasm' | 'webgpu' | 'torch';
  /** Name of what computes: the GPU's, or the CPU's. */
  readonly device: string;
  /** The GPU's PCI bus id, as nvidia-smi prints it, if that is known. */
  readonly bus?: string | undefined;
  /** Reason that `auto` did not choose a GPU, if it did not. */
  readonly whyBackend: string | undefined;
  readonly tensors: readonly ParameterTensor[];
  /** The model's metric besides its loss. */
  readonly metric: MetricKind;
  /** The metric that guessing reaches, if it is known. */
  readonly chance?: number | undefined;
  /** Whether there are test samples to evaluate the model on. */
  readonly evaluates: boolean;
  /** Parameters of the whole model. */
  readonly parameters: number;
  /** Elements of the flat gradient: of a stage in a pipeline, those that it owns. */
  readonly length: number;
  /** Elements of the optimiser's state (0 for plain SGD). */
  readonly stateLength: number;

  /**
   * Memory for the flat gradient on the GPU that computes; undefined if the CPU does. The
   * caller owns it and disposes of it before `close`.
   */
  openGpuGradient(): GpuGradient | undefined;

  /**
   * Lets weights and the optimiser's state move to the arena, beside the applied gradient.
   * Undefined if there are none.
   */
  joinArena?(memory: ParameterArena): Promise<void>;

  /** Describes what a pipeline stage exchanges with other stages. */
  stageSetting?(): StageSetting;
  /** Sets the links of a pipeline stage to the others, before anything is computed. */
  joinPipeline?(links: StageLinks): void;

  /** Gather iteration t's batch of this rank (phase `data`). */
  loadBatch(iteration: number): void;
  /**
   * Loss and gradient of the loaded batch; the gradient is written to `gradient`, and all is
   * computed when this resolves.
   * @param ready called as the backward pass continues: all elements from this one on are there
   */
  computeGradient(
    gradient: GradientMemory,
    ready?: (from: number) => void,
  ): Promise<ComputedStep>;
  /**
   * The mean gradient of all training samples of this rank, each counted once, on the host.
   * Replaces the loaded batch.
   */
  computeFullGradient(out: Float32Array): Promise<void>;
  /** One optimiser step with the averaged gradient, done when this resolves. */
  applyGradient(gradient: GradientMemory, iteration: number): Promise<void>;
  /**
   * Makes tensors, by name, take plain steps, because their gradients already include momentum.
   * Their decay may have a velocity all the same. One restarts at 0 if this changes.
   */
  takePlainSteps(tensors: ReadonlySet<string>): void;
  /**
   * Reads weights one piece after another, of at most that many elements, where the trainer needs
   * no copy of all.
   */
  readPieces?(most: number): AsyncIterable<Float32Array>;
  /** The learning rate at an iteration. */
  learningRate(iteration: number): number;
  /** Evaluates the current weights on this rank's share of the test set. */
  evaluate(): Promise<EvaluationSums>;
  /** The scores behind the last evaluation, for a metric of pairs; none if one is NaN. */
  readonly scores?: ClassScores | undefined;
  /** Mean loss and metric of the samples in these sums. */
  measuresOf(sums: EvaluationSums): StepResult;

  /** Copy weights out and in, flat, in the order of `tensors`. */
  readWeights(out: Float32Array): Promise<void>;
  writeWeights(weights: Float32Array): Promise<void>;
  /** Copy the optimiser's state (velocities) out and in, likewise. */
  readState(out: Float32Array): Promise<void>;
  writeState(state: Float32Array): Promise<void>;

  close(): void;
}

export interface TrainerOptions {
  readonly model: string;
  /** The text of the model's file, if it is one of the user's own. */
  readonly modelSource?: string | undefined;
  readonly dataset: string;
  /** Features of sparse samples; default: the data set is asked. */
  readonly features?: number | undefined;
  /** Columns of a table, if the data set has one. */
  readonly columns?: ColumnNames | undefined;
  /** Samples of a generated data set; default: its own number. */
  readonly samples?: number | undefined;
  /** Settings of a synthetic gradient. */
  readonly synthetic?: SyntheticSpec | undefined;
  readonly dataDirectory?: string | undefined;
  readonly batchPerRank: number;
  readonly rank: number;
  readonly world: number;
  readonly seed: number;
  readonly backend: 'auto' | 'wasm' | 'webgpu' | 'torch';
  /** The Python of `torch`; default: the one that the shell finds. */
  readonly python?: string | undefined;
  readonly threads: number;
  /** The rank among those of its machine; default: it is the only one. */
  readonly rankOnMachine?: RankOnMachine | undefined;
  readonly optimizer: OptimizerSettings & ScheduleSettings & { readonly kind: string };
  readonly iterations: number;
  /** The stage of the model to train; default: the whole. `rank` counts pipelines then. */
  readonly pipeline?: PipelineStage | undefined;
  /** Memory of the rank's arena, where a small model computes as well. */
  readonly memory?: WebAssembly.Memory | undefined;
}

interface PipelineStage {
  /** Layers after which the model is split. */
  readonly splitAfter: readonly string[];
  readonly microBatches: number;
  readonly stage: number;
}
