/**
 * What the switch panel asks for: a plan in the making, as keys of `exchange`, and the
 * plan in force as the same keys, for "Switch back".
 */
import type { Catalogue, MethodEntry } from '../../shared/catalogue.ts';
import {
  planAsExchange,
  type ExchangePlan,
  type NamedPlan,
} from '../../shared/exchange-plan.ts';
import type { JsonValue } from '../../shared/json.ts';
import { valueAt, withValue, type Draft } from './spec-form.ts';

export type PlanChange = Readonly<Record<string, JsonValue>>;

/** A plan as it is written in a spec's `exchange`. */
export const planAsChange: (plan: NamedPlan) => PlanChange = planAsExchange;

/** Another method with its defaults; what the plan in force already says is kept. */
export function changeToMethod(
  method: MethodEntry,
  plan: ExchangePlan | undefined,
): PlanChange {
  let change: Draft = { method: method.id };
  for (const { key, default: usual } of method.parameters) {
    const value = valueAt(plan?.parameters ?? {}, key) ?? usual;
    if (value !== undefined) change = withValue(change, key, value);
  }
  const same = plan !== undefined && plan.method === method.id;
  return { ...change, collective: same ? plan.collective : 'auto' };
}

/** What becomes of the residual at the fence, in one line; undefined: there is none. */
export function residualQuestion(
  catalogue: Catalogue,
  from: string | undefined,
  to: string | undefined,
): 'kept' | 'asked' | undefined {
  const before = catalogue.methods.find((entry) => entry.id === from);
  const after = catalogue.methods.find((entry) => entry.id === to);
  if (before?.residual !== true) return undefined;
  return after?.residual === true ? 'kept' : 'asked';
}
