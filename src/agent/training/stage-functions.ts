/**
 * The functions of a stage that jax-js compiles, each once. A stage that is not the last keeps
 * what it was given of each micro-batch and computes its layers again in the backward pass:
 * one more forward pass, for memory that does not grow with its layers (GPipe, Huang et al.,
 * 2019, section 2.3).
 */
import {
  inOrder,
  measuresOf,
  type JaxBatch,
  type UsedWeights,
} from './models/mean-loss.ts';
import { applyHead, applyLayers, type LayerArrays } from './models/layered.ts';
import type { Model } from './models/model.ts';
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';
import type { ModelStage } from './models/split-model.ts';

/** Arrays that a stage's values are computed from, and differentiated by. */
export interface StageInputs {
  readonly used: UsedWeights;
  /** Tensors of other stages, in the order of `borrowedBy`. */
  readonly borrowed: JaxArray[];
  /** One, [samples · rows, width], of a micro-batch; none for the first stage. */
  readonly values: JaxArray[];
}

/** Functions of a stage, each of which consumes its arguments. */
export interface StageFunctions {
  /** [samples · rows, width] */
  forward(inputs: StageInputs, batch: JaxBatch): JaxArray;
  /** @param gradient of what `forward` gives */
  backward(inputs: StageInputs, batch: JaxBatch, gradient: JaxArray): StageInputs;
  /** The last stage's part of the batch's mean loss for a micro-batch, and its measures. */
  lossAndGradient(
    inputs: StageInputs,
    batch: JaxBatch,
  ): [[loss: JaxArray, measures: JaxArray[]], gradients: StageInputs];
  /** The last stage's measures of test samples; a tally is that of those that count. */
  score(inputs: StageInputs, batch: JaxBatch, counted: JaxArray): JaxArray[];
}

const borrowedTensors = ({ index, shared }: ModelStage) =>
  shared.flatMap(({ borrowers, tensor }) =>
    borrowers.includes(index) ? [tensor] : [],
  );

/** Names of the tensors of other stages that a stage uses. */
export const borrowedBy = (stage: ModelStage): readonly string[] =>
  borrowedTensors(stage).map(({ name }) => name);

/** Shapes of these tensors. */
export const borrowedShapes = (stage: ModelStage): readonly (readonly number[])[] =>
  borrowedTensors(stage).map(({ shape }) => shape);

export interface StageSizes {
  /** Samples in a micro-batch. */
  readonly samples: number;
  /** Micro-batches in a batch. */
  readonly microBatches: number;
}

export function compileStage(
  jax: Jax,
  model: Pick<Model, 'metric' | 'predictions'>,
  stage: ModelStage,
  { samples, microBatches }: StageSizes,
): StageFunctions {
  const owned = stage.tensors.map(({ tensor }) => tensor);
  const borrowed = borrowedBy(stage);
  const predictions = samples * microBatches * model.predictions;

  const arraysOf = (inputs: StageInputs, batch: JaxBatch): LayerArrays => {
    const own = inOrder({ tensors: owned }, inputs.used);
    const parameters = new Map([
      ...owned.map(({ name }, i) => [name, own[i]!] as const),
      ...borrowed.map((name, i) => [name, inputs.borrowed[i]!] as const),
    ]);
    return { jax, samples, parameters, batch };
  };
  const dispose = ({ parameters, batch }: LayerArrays): void => {
    for (const array of [...parameters.values(), ...Object.values(batch)]) {
      array.dispose();
    }
  };

  const forward = (inputs: StageInputs, batch: JaxBatch): JaxArray => {
    const arrays = arraysOf(inputs, batch);
    const values = applyLayers(arrays, stage.layers, inputs.values[0])!;
    dispose(arrays);
    return values;
  };
  const objective = (inputs: StageInputs, batch: JaxBatch) => {
    const arrays = arraysOf(inputs, batch);
    const values = applyLayers(arrays, stage.layers, inputs.values[0])!;
    const objective = applyHead(arrays, stage.head!, values);
    dispose(arrays);
    return objective;
  };
  const product = (inputs: StageInputs, batch: JaxBatch, gradient: JaxArray) =>
    forward(inputs, batch).mul(gradient).sum();
  const partOfLoss = (inputs: StageInputs, batch: JaxBatch) => {
    const given = objective(inputs, batch);
    const part = given.losses.ref.sum().mul(1 / predictions);
    return [part, measuresOf(jax, model, given)];
  };
  const score = (inputs: StageInputs, batch: JaxBatch, counted: JaxArray) => {
    return measuresOf(jax, model, objective(inputs, batch), counted);
  };
  return {
    forward: jax.jit(forward as never) as StageFunctions['forward'],
    backward: jax.jit(jax.grad(product)) as never,
    lossAndGradient: jax.jit(jax.valueAndGrad(partOfLoss, { hasAux: true })) as never,
    score: jax.jit(score as never) as StageFunctions['score'],
  };
}
