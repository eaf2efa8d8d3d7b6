/**
 * The interface of a model: named parameter tensors with initial values, the fields of a
 * batch that it takes, and its objective as jax-js operations; gradient and optimiser come
 * from outside. A new model is one file with this interface and one line in registry.ts. A
 * softmax classifier needs less (classifier.ts).
 */
import { rowLength, type ModelFields } from '../batches/batch.ts';
import type { Metric } from '../metrics/metric.ts';
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { RandomSequence } from '../runtime/random-sequence.ts';

export interface ModelTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly initialize: Initializer;
  /**
   * Makes the tensor a table, of which a batch uses a few rows: those that this field of the
   * batch names, whole numbers below the table's length. The objective gets these rows in the
   * tensor's place, [batch, …the field's shape, …the rest of the tensor's], and the gradient
   * is 0 in all others.
   */
  readonly rowsOf?: string | undefined;
}

/**
 * Initial values: zeros, ones, normal with mean 0 and this standard deviation, uniform between
 * −bound and bound, or what a function writes. Its random numbers are the same on every rank.
 */
export type Initializer =
  | 'zeros'
  | 'ones'
  | { readonly normal: number }
  | { readonly uniform: number }
  | ((out: Float32Array, random: RandomSequence) => void);

/**
 * A statistic of many training samples that the model uses when it is evaluated
 * (`Model.statistics`).
 */
export interface ModelStatistic {
  readonly name: string;
  readonly shape: readonly number[];
  /**
   * Name of the statistic that is this one's mean, if this is a variance within a batch. In an
   * evaluation it is the variance of all samples. Default: a statistic is averaged over batches.
   */
  readonly around?: string | undefined;
}

export interface Objective {
  /** The loss of each sample, [rows]; if it has several predictions, their sum. */
  readonly losses: JaxArray;
  /** The metric's values per sample, each [rows], to be summed. */
  readonly sums: readonly JaxArray[];
  /** The batch's statistics in the model's order, in training, for a model with statistics. */
  readonly statistics?: readonly JaxArray[] | undefined;
}

export interface Model {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** The fields of a batch that the model reads, by name. */
  readonly inputs: ModelFields;
  /** Predictions per sample, whose losses are summed: 1, or the length of a sequence. */
  readonly predictions: number;
  readonly metric: Metric;
  /** The model's tensors, in the order of the flat gradient. */
  readonly tensors: readonly ModelTensor[];
  /**
   * Values that the samples of a training batch share, such as the moments of a batch
   * norm. An evaluation uses those of many training batches instead of its own
   * batch's.
   */
  readonly statistics?: readonly ModelStatistic[] | undefined;
  /**
   * The objective of a batch, each field of which is [rows, …its shape]. Takes ownership
   * of its arguments, as every jax-js function does.
   * @param statistics to evaluate with; undefined in training
   */
  objective(
    jax: Jax,
    parameters: readonly JaxArray[],
    batch: Readonly<Record<string, JaxArray>>,
    statistics?: readonly JaxArray[],
  ): Objective;
}

/** A model whose size depends on the number of features of its samples. */
export interface SizedModel extends Pick<Model, 'id' | 'title' | 'summary'> {
  ofFeatures(features: number): Model;
}

/** Elements of a tensor. */
export function tensorLength(tensor: Pick<ModelTensor, 'shape'>): number {
  return rowLength(tensor);
}

export function parameterCount(model: {
  readonly tensors: readonly Pick<ModelTensor, 'shape'>[];
}): number {
  return model.tensors.reduce((sum, tensor) => sum + tensorLength(tensor), 0);
}
