/**
 * The function that is differentiated: the mean loss per prediction. Losses are also given one by
 * one, to be reported: jax-js adds them in f32, one after the other, so that the mean of a large batch
 * would be off.
 */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { Model, ModelTensor, Objective } from './model.ts';

/** A batch on the device, by field. */
export type JaxBatch = Record<string, JaxArray>;

/** Tensors, and for tables only the rows that the batch uses. */
export interface UsedWeights {
  readonly whole: JaxArray[];
  readonly rows: JaxArray[];
}

export function meanLossOf(jax: Jax, model: Model, samples: number) {
  const predictions = samples * model.predictions;
  return (used: UsedWeights, batch: JaxBatch): [JaxArray, JaxArray[]] => {
    const given = model.objective(jax, inOrder(model, used), batch);
    for (const each of given.statistics ?? []) each.dispose();
    return [given.losses.ref.sum().mul(1 / predictions), measuresOf(jax, model, given)];
  };
}

/**
 * The measures of samples: the losses and the metric's values, [rows] each, or instead of these the
 * sums of its tally, [length]. `measuredSums` reads them.
 * @param counted 1 or 0 for each row of which the tally is added up, consumed; default: all count
 */
export function measuresOf(
  jax: Jax,
  { metric: { tally } }: Pick<Model, 'metric'>,
  { losses, sums }: Pick<Objective, 'losses' | 'sums'>,
  counted?: JaxArray,
): JaxArray[] {
  if (tally === undefined) {
    counted?.dispose();
    return [losses, ...sums];
  }
  const tallied = tally.of(jax, sums);
  const added = counted === undefined ? tallied : tallied.mul(counted.reshape([-1, 1]));
  return [losses, added.sum(0)];
}

/** The objective's parameters, in the order of the model's tensors. */
export function inOrder(
  { tensors }: { readonly tensors: readonly Pick<ModelTensor, 'rowsOf'>[] },
  { whole, rows }: UsedWeights,
): JaxArray[] {
  const wholes = whole.values();
  const used = rows.values();
  return tensors.map(({ rowsOf }) => {
    const next = (rowsOf === undefined ? wholes : used).next();
    return next.value!;
  });
}
