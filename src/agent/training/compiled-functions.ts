/** The functions of a model replica that jax-js compiles, each once. */
import { averageLimit } from '../../shared/spec/optimizer-spec.ts';
import {
  inOrder,
  meanLossOf,
  measuresOf,
  type JaxBatch,
  type UsedWeights,
} from './models/mean-loss.ts';
import type { Model } from './models/model.ts';
import { clipGradients } from './optimizers/clip-gradients.ts';
import type { Optimizer, OptimizerSettings } from './optimizers/optimizer.ts';
import type { Jax, JaxArray } from './runtime/jax-runtime.ts';
import type { TrainerOptions } from './trainer.ts';

/** Tensors that take plain steps have state vectors only for a decay with a velocity. */
export type CompiledUpdate = (
  weights: JaxArray[],
  state: JaxArray[][],
  gradients: JaxArray[],
  rates: JaxArray,
) => [weights: JaxArray[], state: JaxArray[][]];

export interface CompiledFunctions {
  /** The mean loss of a prediction in f32, and the measures of the samples (`measuresOf`). */
  lossAndGradient(
    used: UsedWeights,
    batch: JaxBatch,
  ): [[loss: JaxArray, measures: JaxArray[]], gradients: UsedWeights];
  /** The measures of samples; a tally is that of the rows that count. */
  score(
    used: UsedWeights,
    batch: JaxBatch,
    counted: JaxArray,
    statistics: JaxArray[],
  ): JaxArray[];
  /** The statistics of a training batch. */
  statistics(used: UsedWeights, batch: JaxBatch): JaxArray[];
}

export function compile(
  jax: Jax,
  model: Model,
  options: Pick<TrainerOptions, 'batchPerRank'>,
): CompiledFunctions {
  const meanLoss = meanLossOf(jax, model, options.batchPerRank);
  const score: CompiledFunctions['score'] = (used, batch, counted, given) => {
    const objective = model.objective(
      jax,
      inOrder(model, used),
      batch,
      model.statistics === undefined ? undefined : given,
    );
    return measuresOf(jax, model, objective, counted);
  };
  const statistics: CompiledFunctions['statistics'] = (used, batch) => {
    const given = model.objective(jax, inOrder(model, used), batch);
    for (const each of [given.losses, ...given.sums]) each.dispose();
    return [...(given.statistics ?? [])];
  };
  return {
    lossAndGradient: jax.jit(
      jax.valueAndGrad(meanLoss, { argnums: 0, hasAux: true }),
    ) as CompiledFunctions['lossAndGradient'],
    score: jax.jit(score as never) as CompiledFunctions['score'],
    statistics: jax.jit(statistics as never) as CompiledFunctions['statistics'],
  };
}

/** @param plain whether a whole tensor takes plain steps */
export function compileUpdate(
  jax: Jax,
  optimizer: Optimizer,
  settings: OptimizerSettings,
  plain: readonly boolean[],
): CompiledUpdate {
  const withoutMomentum = { ...settings, momentum: 0 };
  const decayMoves = optimizer.decayHasVelocity?.(settings) === true;
  const isStateless = (index: number): boolean => plain[index] === true && !decayMoves;
  const update: CompiledUpdate = (weights, state, gradients, rates) => {
    const learningRate = rates.ref.slice(0);
    const count = optimizer.factors?.(settings, 1).length ?? 0;
    const factors = Array.from({ length: count }, (_, i) => rates.ref.slice(i + 1));
    rates.dispose();
    const clipped = clipGradients(jax, gradients, averageLimit(settings));
    let place = 0;
    const updates = weights.map((weight, index) => {
      const own = isStateless(index) ? undefined : place++;
      return optimizer.update(jax, own === undefined ? withoutMomentum : settings, {
        weight,
        gradient: clipped[index]!,
        state: own === undefined ? [] : state.map((vector) => vector[own]!),
        learningRate: learningRate.ref,
        factors: factors.map((factor) => factor.ref),
        isVector: weight.shape.length < 2,
        ofDecay: plain[index] === true && decayMoves,
      });
    });
    for (const scalar of [learningRate, ...factors]) scalar.dispose();
    const moved = updates.filter((_, index) => !isStateless(index));
    return [
      updates.map((tensor) => tensor.weight),
      state.map((_, vector) => moved.map((tensor) => tensor.state[vector]!)),
    ];
  };
  return jax.jit(update) as CompiledUpdate;
}
