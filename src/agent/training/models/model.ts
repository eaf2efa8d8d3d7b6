/**
 * What a network is to training: named parameter tensors with their first values, and
 * the forward pass as jax-js operations; the loss, its gradient and the optimiser come
 * from outside. A new model is one file with this interface and one line in
 * registry.ts.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { RandomStream } from '../runtime/random-stream.ts';

export interface ModelTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** Writes the first values. The stream is the same on every rank. */
  initialize(out: Float32Array, random: RandomStream): void;
}

export interface Model {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  /** Values of one sample, which arrive as a flat row. */
  readonly inputLength: number;
  readonly classes: number;
  /** In the order of the flat gradient. */
  readonly tensors: readonly ModelTensor[];
  /**
   * Scores before the softmax, [rows, classes], of inputs [rows, inputLength]. Takes
   * ownership of its arguments, as every jax-js function does.
   */
  logits(jax: Jax, parameters: readonly JaxArray[], inputs: JaxArray): JaxArray;
}

/** Elements of a tensor. */
export function tensorLength(tensor: Pick<ModelTensor, 'shape'>): number {
  return tensor.shape.reduce((product, size) => product * size, 1);
}

export function parameterCount(model: Pick<Model, 'tensors'>): number {
  return model.tensors.reduce((sum, tensor) => sum + tensorLength(tensor), 0);
}
