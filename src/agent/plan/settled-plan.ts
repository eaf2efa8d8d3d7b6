/** A plan in which warm-ups and ramps that begin at a fence have its iteration. */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { settled } from '../methods/policy/starts.ts';

/**
 * @param fenceOf the iteration of an epoch's fence, if known
 * @returns the same object if nothing changes
 */
export function settledPlan(
  plan: ExchangePlan,
  fenceOf: (epoch: number) => number | undefined,
): ExchangePlan {
  const parameters = settled(plan.parameters, fenceOf);
  const layers = plan.layers?.map((layer) => {
    const own = settled(layer.parameters, fenceOf);
    return own === layer.parameters ? layer : { ...layer, parameters: own };
  });
  const same =
    parameters === plan.parameters &&
    (layers ?? []).every((layer, index) => layer === plan.layers![index]);
  return same ? plan : { ...plan, parameters, ...(layers && { layers }) };
}
