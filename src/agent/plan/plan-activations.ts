/** The compression of activations between the stages of a pipeline. */
import { inputError } from '../../shared/errors/errors.ts';
import {
  exchangeSpecSchema,
  type ExchangePlan,
} from '../../shared/plan/exchange-plan.ts';
import { needOf } from '../../shared/spec/key-rules.ts';
import type { PlanSetting } from './plan-setting.ts';

/**
 * Adds the plan of activations. What the plan before left out of them continues, whatever the
 * method is.
 * @throws GradwireError `ACTIVATIONS_MISFIT`
 */
export function withActivations(
  { activations: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { isPipeline = false }: PlanSetting,
): ExchangePlan {
  const kept = change.activations === null ? undefined : base?.activations;
  if (change.activations !== undefined && !isPipeline) {
    const { because, code, next } = needOf(exchangeSpecSchema, 'activations');
    throw inputError(code, because, { next });
  }
  const activations = asked ?? kept;
  const passesAll = activations === undefined || activations.method === 'none';
  return passesAll ? plan : { ...plan, activations };
}
