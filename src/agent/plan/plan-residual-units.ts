/** The units of a plan's residual: gradients or updates. */
import { inputError } from '../../shared/errors/errors.ts';
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import { residualOf } from '../methods/method.ts';
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
function withoutUpdates({ layers = [], ...base }: ExchangePlan): Refusal | undefined {
  const kept = [base, ...layers].map(({ method, parameters }) => ({
    method,
    residual: residualOf(findMethod(method), parameters),
  }));
  const other = kept.find(({ residual }) => residual === 'velocity');
  if (other !== undefined) {
    return {
      message: `${other.method} keeps sums of velocities, not of gradients`,
      next: 'Remove residualUnits, or use another method.',
    };
  }
  if (kept.some(({ residual }) => residual === 'gradient')) return undefined;
  return {
    message: `method ${base.method} keeps no residual`,
    next: 'Remove residualUnits, or use a method with error feedback, such as topk.',
  };
}
