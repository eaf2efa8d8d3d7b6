/**
 * Checks the results of an objective, which may come from a file that was never
 * type-checked.
 */
import type { Metric } from '../metrics/metric.ts';
import type { JaxArray } from '../runtime/jax-runtime.ts';
import { modelFailed, requireShape } from './model-failed.ts';
import type { Model, Objective } from './model.ts';

/**
 * @param of the function that returned it, for errors
 * @param samples number of samples in the batch
 * @throws GradwireError `MODEL_INVALID`
 */
export function requireObjective(
  of: 'objective' | 'head',
  given: Partial<Objective> | undefined,
  { id, sums: count }: Pick<Metric, 'id' | 'sums'>,
  samples: number,
): Pick<Objective, 'losses' | 'sums'> {
  const { losses, sums } = given ?? {};
  if (losses === undefined || sums === undefined) {
    throw modelFailed(`its ${of} does not return { losses, sums }`);
  }
  if (sums.length !== count) {
    throw modelFailed(
      `its ${of} returns ${sums.length} sums, but ${id} takes ${count}`,
    );
  }
  requireShape('losses', losses, [samples]);
  for (const [i, sum] of sums.entries()) requireShape(`sums[${i}]`, sum, [samples]);
  return { losses, sums };
}

export function withCheckedObjective(model: Model): Model {
  return {
    ...model,
    objective: (jax, parameters, batch, evaluateWith) => {
      const rows = Object.values(batch)[0]!.shape[0]!;
      const given: Partial<Objective> | undefined = model.objective(
        jax,
        parameters,
        batch,
        evaluateWith,
      );
      const checked = requireObjective('objective', given, model.metric, rows);
      if (evaluateWith !== undefined) return checked;
      return { ...checked, statistics: checkedStatistics(model, given?.statistics) };
    },
  };
}

/** The batch's statistics, if their number and shapes are as the model declares. */
function checkedStatistics(
  { statistics: wanted = [] }: Model,
  given: readonly JaxArray[] = [],
): readonly JaxArray[] {
  if (given.length !== wanted.length) {
    throw modelFailed(
      `its objective returns ${given.length} statistics in training, but the model ` +
        `declares ${wanted.length}`,
    );
  }
  for (const [i, { name, shape }] of wanted.entries()) {
    requireShape(`statistics "${name}"`, given[i]!, shape);
  }
  return given;
}
