/** Values of a raw spec by their paths, as `--set` and sweeps write them. */
import type { JsonValue } from '../checks/json.ts';
import { PLAN_KEYS } from '../plan/exchange-plan.ts';

export interface PathValue {
  readonly path: readonly string[];
  /** The new value; undefined removes the key. */
  readonly value: JsonValue | undefined;
}

const METHOD = 'exchange.method';

/**
 * A copy of a raw spec with values in place, in their order. Naming another method drops the old
 * method's parameters and layers first.
 * @param misfit makes the error for the value of this index, whose path leads through a key that
 * has no keys inside it
 */
export function withPathValues(
  raw: unknown,
  values: readonly PathValue[],
  misfit: (section: string, index: number) => Error,
): Record<string, unknown> {
  const result = structuredClone(raw) as Record<string, unknown>;
  const method = values.findLast(({ path }) => path.join('.') === METHOD);
  if (method !== undefined) dropParameters(result, method.value);
  for (const [index, { path, value }] of values.entries()) {
    let target = result;
    for (const [depth, key] of path.slice(0, -1).entries()) {
      const next = Object.hasOwn(target, key) ? target[key] : undefined;
      if (next !== undefined && !isRecord(next)) {
        throw misfit(path.slice(0, depth + 1).join('.'), index);
      }
      target = (target[key] = next ?? {}) as Record<string, unknown>;
    }
    const key = path.at(-1)!;
    if (value === undefined) Reflect.deleteProperty(target, key);
    else target[key] = structuredClone(value);
  }
  return result;
}

function dropParameters(
  raw: Record<string, unknown>,
  method: JsonValue | undefined,
): void {
  const exchange = raw['exchange'];
  if (!isRecord(exchange) || exchange['method'] === method) return;
  raw['exchange'] = Object.fromEntries(
    Object.entries(exchange).filter(
      ([key]) => key !== 'layers' && (PLAN_KEYS as readonly string[]).includes(key),
    ),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
