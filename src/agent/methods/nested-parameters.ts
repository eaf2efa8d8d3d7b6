/**
 * Parameters that have parts: `quantize: { bits: 4 }` gives all of it, `quantize.bits: 4`
 * one part. Forms, `--param` and switches name parts.
 */
import type { JsonObject, JsonValue } from '../../shared/checks/json.ts';

/** `base` with every change applied; parameters that are not named stay. */
export function withChanges(
  base: JsonObject,
  changes: Readonly<Record<string, unknown>>,
): JsonObject {
  const result: JsonObject = { ...base };
  const written = Object.entries(changes) as [string, JsonValue][];
  for (const [key, value] of written) if (!key.includes('.')) result[key] = value;
  for (const [key, value] of written) {
    const dot = key.indexOf('.');
    if (dot < 0) continue;
    const whole = result[key.slice(0, dot)];
    const parts = isObject(whole) ? whole : {};
    result[key.slice(0, dot)] = withChanges(parts, { [key.slice(dot + 1)]: value });
  }
  return result;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
