/** A spec being edited: reads values, and makes changed copies. */
import type { JsonValue } from '../../../shared/checks/json.ts';

/** A spec being edited. */
export type Draft = { readonly [key: string]: JsonValue };

export function valueAt(draft: Draft, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = draft;
  for (const key of path.split('.')) {
    if (!isDraft(value)) return undefined;
    value = value[key];
  }
  return value;
}

/**
 * A copy with one value changed; undefined removes the key, and its section if that becomes
 * empty.
 */
export function withValue(
  draft: Draft,
  path: string,
  value: JsonValue | undefined,
): Draft {
  const [key = '', ...rest] = path.split('.');
  const copy: Record<string, JsonValue> = { ...draft };
  if (rest.length > 0) {
    const inner = draft[key];
    const changed = withValue(isDraft(inner) ? inner : {}, rest.join('.'), value);
    if (value === undefined && Object.keys(changed).length === 0) {
      Reflect.deleteProperty(copy, key);
    } else {
      copy[key] = changed;
    }
  } else if (value === undefined) {
    Reflect.deleteProperty(copy, key);
  } else {
    copy[key] = value;
  }
  return copy;
}

/** Whether a value is an object with keys. */
export function isDraft(value: unknown): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
