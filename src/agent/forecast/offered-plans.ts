/** Plans to predict beside a run's own. */
import { isAutomatic, type ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { methods } from '../methods/registry.ts';
import { resolvePlan } from '../plan/resolve-plan.ts';
import { compresses } from '../plan/tensor-policy.ts';

/**
 * The plan of a run, then all methods with their defaults, each once; uncompressed exchanges are
 * always included, even if the run changes `none`. A method that moves only part of the
 * weights is a different algorithm, not a compression of this one: it is included only if the
 * run uses it.
 */
export function offeredPlans(own: ExchangePlan): readonly ExchangePlan[] {
  const { bucketBytes } = own;
  const isBaseline = !compresses(own) && isAutomatic(own.collective);
  const others = [...methods.values()]
    .filter(({ id, movesPart, uncompressed }) =>
      uncompressed === true ? !isBaseline : id !== own.method && movesPart !== true,
    )
    .map(({ id: method }) => resolvePlan({ method, bucketBytes }));
  return [own, ...others];
}

/** Whether the method keeps momentum itself, in place of the optimiser's. */
export const replacesMomentum = ({ method }: ExchangePlan): boolean =>
  methods.get(method)!.replacesMomentum !== undefined;
