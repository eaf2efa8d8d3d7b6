/** What is differentiated: the mean loss of a prediction, with the sums of the metric. */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { Model } from './model.ts';

/** A batch on the device, by field. */
export type JaxBatch = Record<string, JaxArray>;

export function meanLossOf(jax: Jax, model: Model, rows: number) {
  const predictions = rows * model.predictions;
  return (weights: JaxArray[], batch: JaxBatch): [loss: JaxArray, sums: JaxArray[]] => {
    const { losses, sums } = model.objective(jax, weights, batch);
    return [losses.sum().mul(1 / predictions), sums.map((each) => each.sum())];
  };
}
