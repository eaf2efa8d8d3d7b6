/** A draft whose compression method is changed. */
import type { MethodEntry } from '../../../shared/catalogue/catalogue.ts';
import { isAutomatic, PLAN_KEYS } from '../../../shared/plan/exchange-plan.ts';
import type { JsonValue } from '../../../shared/checks/json.ts';
import { isDraft, valueAt, withValue, type Draft } from './spec-draft.ts';

/** Keys of a spec whose values another method does not take over. */
const BY_METHOD: ReadonlySet<string> = new Set([
  'method',
  'layers',
  'quantizeSums',
  'delta',
  'residualUnits',
]);

/**
 * Another method: its own parameters with their defaults, and a collective that takes
 * its payload. Parameters that both methods have keep their value. Left behind are a collective
 * that does not take the payload, and keys that depend on the method: layers, quantised sums,
 * the δ of streams, units of the residual.
 */
export function withMethod(draft: Draft, method: MethodEntry): Draft {
  const old = isDraft(draft['exchange']) ? draft['exchange'] : {};
  const exchange: Record<string, JsonValue> = { method: method.id };
  for (const key of PLAN_KEYS) {
    const value = old[key];
    if (BY_METHOD.has(key) || value === undefined) continue;
    exchange[key] = value;
  }
  if (!accepts(method, exchange['collective'])) {
    exchange['collective'] = 'auto';
    delete exchange['servers'];
  }
  let result: Draft = { ...draft, exchange };
  for (const { key, default: usual } of method.parameters) {
    const value = valueAt(old, key) ?? usual;
    if (value !== undefined) result = withValue(result, `exchange.${key}`, value);
  }
  return result;
}

function accepts(method: MethodEntry, collective: unknown): boolean {
  return (
    isAutomatic(String(collective)) || method.collectives.includes(String(collective))
  );
}
