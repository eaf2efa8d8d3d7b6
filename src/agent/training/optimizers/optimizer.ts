/**
 * What an optimiser is to training: for one tensor, how weights and state change with a
 * gradient, as jax-js operations; the trainer compiles one function of it over all
 * tensors. A new optimiser is one file with this interface and one line in registry.ts.
 */
import type { JaxArray } from '../runtime/jax-runtime.ts';

export interface OptimizerSettings {
  readonly momentum: number;
}

export interface TensorUpdate {
  readonly weight: JaxArray;
  readonly state: readonly JaxArray[];
}

export interface Optimizer {
  readonly id: string;
  /** State vectors as long as the weights, kept from iteration to iteration. */
  stateVectors(settings: OptimizerSettings): number;
  /** One step of one tensor; takes ownership of its array arguments. */
  update(
    settings: OptimizerSettings,
    weight: JaxArray,
    gradient: JaxArray,
    state: readonly JaxArray[],
    learningRate: JaxArray,
  ): TensorUpdate;
}
