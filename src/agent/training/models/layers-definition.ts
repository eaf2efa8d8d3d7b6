/**
 * Users' own models, written as named layers instead of one function: the whole model
 * follows from the layers, and can be split after each of them.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { ClassifierDefinition } from './classifier.ts';
import type { Model, ModelTensor, Objective } from './model.ts';

interface LayerParts {
  /** The name for `splitAfter`. */
  readonly name: string;
  /**
   * The layer's parameters, one at least. A text is the name of a tensor of a layer before it,
   * which this one uses as well, as output weights that are embeddings.
   */
  readonly tensors: readonly (ModelTensor | string)[];
  /** The shape of its output for one sample; the last axis is its units. */
  readonly output: readonly number[];
  /** The last units that belong to a skip connection, which always pass whole; default: 0. */
  readonly skip?: number | undefined;
}

export interface ClassifierLayer extends LayerParts {
  /**
   * [samples, …output], f32, of what the layer before gives; of inputs [samples, inputLength]
   * in the first layer. Takes ownership of its arguments, as every jax-js function does.
   * @param parameters in the order of `tensors`
   */
  apply(jax: Jax, parameters: readonly JaxArray[], values: JaxArray): JaxArray;
}

export interface FieldLayer extends LayerParts {
  /** Fields of the batch that it takes; default: none. */
  readonly fields?: readonly string[] | undefined;
  /**
   * [samples, …output], f32. Takes ownership of its arguments, as every jax-js function does.
   * @param parameters in the order of `tensors`; of a table the rows that the batch uses
   * @param values what the layer before gives; undefined for the first layer
   * @param fields those of `fields`, each [samples, …its shape]
   */
  apply(
    jax: Jax,
    parameters: readonly JaxArray[],
    values: JaxArray | undefined,
    fields: Readonly<Record<string, JaxArray>>,
  ): JaxArray;
}

/** A softmax classifier whose last layer gives the scores, [samples, classes]. */
export interface LayeredClassifierDefinition extends Omit<
  ClassifierDefinition,
  'logits' | 'tensors'
> {
  readonly layers: readonly ClassifierLayer[];
}

export interface HeadDefinition {
  /** Fields of the batch that it takes; default: none. */
  readonly fields?: readonly string[] | undefined;
  /**
   * Computes the objective from the last layer's values, without parameters. Takes ownership of its
   * arguments.
   * @param fields those of `fields`, each [samples, …its shape]
   */
  objective(
    jax: Jax,
    values: JaxArray,
    fields: Readonly<Record<string, JaxArray>>,
  ): Omit<Objective, 'statistics'>;
}

export interface LayeredModelDefinition extends Pick<
  Model,
  'id' | 'title' | 'summary' | 'inputs'
> {
  readonly metric: string | Model['metric'];
  /** Predictions per sample; default: 1. */
  readonly predictions?: number | undefined;
  readonly layers: readonly FieldLayer[];
  /** The last step, from the last layer's values to losses. */
  readonly head: HeadDefinition;
}
