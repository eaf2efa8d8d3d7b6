/**
 * A message of another process, checked against its schema. The error names the field and the
 * value that is wrong. Keys that the schema does not know are dropped, so that a newer version
 * may say more.
 *
 *     const order = checkedMessage(toWorkerSchema, raw, { code: 'ORDER_INVALID', what: 'order' });
 */
import type { z } from 'zod';
import { failure, type GradwireError } from '../errors.ts';
import { plainIssue } from '../plain-issue.ts';

export interface Refusal {
  readonly code: string;
  /** The message's name, with which the error's text begins. */
  readonly what: string;
  readonly rank?: number | undefined;
}

const SAME_VERSION =
  'Use the same version of Gradwire everywhere. If you already do, report this as a bug.';
const SHOWN_CHARACTERS = 60;

/** @throws GradwireError with the refusal's code */
export function checkedMessage<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  refusal: Refusal,
): z.infer<S> {
  let parsed: z.ZodSafeParseResult<z.infer<S>>;
  try {
    parsed = schema.safeParse(raw);
  } catch (cause) {
    // Lists in lists in lists, deeper than the stack; or bytes in place of a list, which the
    // schema would freeze.
    const isDeep = cause instanceof RangeError;
    throw refused(refusal, isDeep ? 'it is nested too deeply' : String(cause));
  }
  if (parsed.success) return parsed.data;
  const issue = innermost(parsed.error.issues[0]!);
  const path = issue.path.map(String).join('.');
  const value = valueAt(raw, issue.path);
  if (value === undefined) {
    throw refused(refusal, path === '' ? 'it is empty' : `${path} is missing`);
  }
  const where = path === '' ? '' : `${path}: `;
  throw refused(refusal, `${where}${plainIssue(issue)}, not ${shown(value)}`);
}

function refused({ code, what, rank }: Refusal, why: string): GradwireError {
  return failure(code, `${what}: ${why}`, {
    ...(rank === undefined ? {} : { rank }),
    next: SAME_VERSION,
  });
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
