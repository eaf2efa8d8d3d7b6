/** A plan with `topk`, and changes of it. */
import { describeMethods } from '../../../src/agent/methods/registry.ts';
import type { PlanSetting } from '../../../src/agent/plan/plan-setting.ts';
import { resolvePlan } from '../../../src/agent/plan/resolve-plan.ts';
import {
  planAsChange as writtenOut,
  type NamedPlan,
} from '../../../src/shared/plan/exchange-plan.ts';
import { GradwireError } from '../../../src/shared/errors/errors.ts';

export const base = resolvePlan({ method: 'topk', ratio: 0.05 });

/** The error that refuses a change of the plan. */
export function errorOf(
  change: Record<string, unknown>,
  setting: PlanSetting = {},
): GradwireError {
  try {
    resolvePlan(change, base, setting);
  } catch (error) {
    if (error instanceof GradwireError) return error;
    throw error;
  }
  throw new Error('expected a coded error');
}

/** A plan as the change that the app's panel makes of it. */
export const planAsChange = (plan: NamedPlan) => writtenOut(plan, describeMethods());
