/** The function that is differentiated: the mean loss per prediction, with the metric's sums. */
import type { Jax, JaxArray } from '../runtime/jax-runtime.ts';
import type { Model, ModelTensor } from './model.ts';

/** A batch on the device, by field. */
export type JaxBatch = Record<string, JaxArray>;

/** Tensors, and for tables only the rows that the batch uses. */
export interface UsedWeights {
  readonly whole: JaxArray[];
  readonly rows: JaxArray[];
}

export function meanLossOf(jax: Jax, model: Model, samples: number) {
  const predictions = samples * model.predictions;
  return (used: UsedWeights, batch: JaxBatch): [loss: JaxArray, sums: JaxArray[]] => {
    const given = model.objective(jax, inOrder(model, used), batch);
    const { losses, sums, statistics } = given;
    for (const each of statistics ?? []) each.dispose();
    const summed = summands(jax, model, sums).map((each) => each.sum(0));
    return [losses.sum().mul(1 / predictions), summed];
  };
}

/** The metric's values per sample, to be summed: [rows] each, or one tally [rows, length]. */
export function summands(
  jax: Jax,
  { metric: { tally } }: Pick<Model, 'metric'>,
  sums: readonly JaxArray[],
): readonly JaxArray[] {
  return tally === undefined ? sums : [tally.of(jax, sums)];
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
