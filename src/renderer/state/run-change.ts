/**
 * What the switch panel asks for: a plan in the making, as keys of `exchange`, and the
 * plan in force as the same keys, for "Switch back".
 */
import type { Catalogue, MethodEntry } from '../../shared/catalogue.ts';
import type { ExchangePlan } from '../../shared/exchange-plan.ts';
import type { JsonValue } from '../../shared/json.ts';

export type PlanChange = Readonly<Record<string, JsonValue>>;

/** A plan as it is written in a spec's `exchange`. */
export function planAsChange(
  plan: Omit<ExchangePlan, 'parameters'> & {
    readonly parameters: Readonly<Record<string, unknown>>;
  },
): PlanChange {
  return {
    method: plan.method,
    ...(plan.parameters as Record<string, JsonValue>),
    collective: plan.collective,
    bucketBytes: plan.bucketBytes,
  };
}

/** Another method with its defaults; what the plan in force already says is kept. */
export function changeToMethod(
  method: MethodEntry,
  plan: ExchangePlan | undefined,
): PlanChange {
  const change: Record<string, JsonValue> = { method: method.id };
  for (const parameter of method.parameters) {
    const value = plan?.parameters[parameter.key] ?? parameter.default;
    if (value !== undefined) change[parameter.key] = value;
  }
  change['collective'] =
    plan !== undefined && plan.method === method.id ? plan.collective : 'auto';
  return change;
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
