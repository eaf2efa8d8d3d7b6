/**
 * A value of unknown origin against a schema: the value, or what is wrong with it in a few plain
 * words, `addresses.1.port: it must be at most 65535, not 1000000`. Never throws.
 */
import type { z } from 'zod';
import { INTERPRETED } from './interpreted.ts';
import { plainIssue } from './plain-issue.ts';

export type CheckedValue<T> =
  { readonly fault?: undefined; readonly value: T } | { readonly fault: string };

const SHOWN_CHARACTERS = 60;

export function checkedValue<S extends z.ZodType>(
  schema: S,
  raw: unknown,
): CheckedValue<z.infer<S>> {
  let parsed: z.ZodSafeParseResult<z.infer<S>>;
  try {
    parsed = schema.safeParse(raw, INTERPRETED);
  } catch (cause) {
    // Lists in lists in lists, deeper than the stack; or bytes in place of a list, which the
    // schema would freeze.
    const isDeep = cause instanceof RangeError;
    return { fault: isDeep ? 'it is nested too deeply' : String(cause) };
  }
  if (parsed.success) return { value: parsed.data };
  const issue = innermost(parsed.error.issues[0]!);
  const path = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0]!;
    const unknown = [...issue.path.map(String), key].join('.');
    return {
      fault: `${unknown} is unknown: ${shown(valueAt(raw, [...issue.path, key]))}`,
    };
  }
  const value = valueAt(raw, issue.path);
  if (value === undefined) {
    return { fault: path === '' ? 'it is empty' : `${path} is missing` };
  }
  const where = path === '' ? '' : `${path}: `;
  return { fault: `${where}${plainIssue(issue)}, not ${shown(value)}` };
}

/** The issue that a union without a match hides, if only one of its members was tried. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union' || issue.errors.length !== 1) return issue;
  const inner = issue.errors[0]![0];
  return inner === undefined
    ? issue
    : innermost({ ...inner, path: [...issue.path, ...inner.path] });
}

function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  let value = raw;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) {
      return undefined;
    }
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Values of any kind in a few characters; their contents are not trusted to be printable. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (typeof value === 'object' && value !== null) return 'a section with keys';
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length <= SHOWN_CHARACTERS ? text : `${text.slice(0, SHOWN_CHARACTERS)}…`;
}
