/** The units of a plan's residual: gradients or updates. */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { findMethod } from '../methods/registry.ts';
import type { PlanSetting, Refusal } from './plan-setting.ts';

/**
 * The plan with the units of its residual, unless they are the default. The previous
 * plan's units carry over as long as the method supports them.
 * @throws GradwireError `RESIDUAL_UNITS_MISFIT`
 */
export function withResidualUnits(
  { residualUnits: asked, ...plan }: ExchangePlan,
  change: Readonly<Record<string, unknown>>,
  base: ExchangePlan | undefined,
  { noUpdates }: PlanSetting,
): ExchangePlan {
  const kept = change.residualUnits === null ? undefined : base?.residualUnits;
  const residualUnits = asked ?? kept;
  if (residualUnits !== 'update') return plan;
  const refusal = noUpdates ?? withoutUpdates(plan);
  if (refusal === undefined) return { ...plan, residualUnits };
  // The app's panel repeats current values: that alone is not a choice.
  if (asked === undefined || asked === base?.residualUnits) return plan;
  const { message, next } = refusal;
  throw inputError('RESIDUAL_UNITS_MISFIT', `residualUnits: update, but ${message}`, {
    next,
  });
}

/** Explains why the methods of a plan keep no updates. */
function withoutUpdates({ layers = [], method }: ExchangePlan): Refusal | undefined {
  const methods = [method, ...layers.map((layer) => layer.method)].map(findMethod);
  const other = methods.find(({ residual }) => residual === 'velocity');
  if (other !== undefined) {
    return {
      message: `${other.id} keeps sums of velocities, not of gradients`,
      next: 'Remove residualUnits, or use another method.',
    };
  }
  if (methods.some(({ residual }) => residual === 'gradient')) return undefined;
  return {
    message: `method ${method} keeps no residual`,
    next: 'Remove residualUnits, or use a method with error feedback, such as topk.',
  };
}
