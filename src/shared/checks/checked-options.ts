/** Options that a program gives to the library, checked when they are given. */
import { z } from 'zod';
import { checkedValue } from './checked-value.ts';
import { inputError } from '../errors/errors.ts';
import { nearest } from '../words/nearest.ts';

/**
 * @param what the function or class that takes the options
 * @throws GradwireError `OPTION_INVALID`, which names the option and its value
 */
export function checkedOptions<S extends z.ZodType>(
  schema: S,
  raw: unknown,
  what: string,
): z.infer<S> {
  const checked = checkedValue(schema, raw);
  if (checked.fault === undefined) return checked.value;
  throw inputError('OPTION_INVALID', `${what}: ${checked.fault}`, {
    next:
      meantOption(schema, raw) ??
      'Correct the option; docs/engine.md has the range of each.',
  });
}

/** The option that a mistyped one resembles. */
function meantOption(schema: z.ZodType, raw: unknown): string | undefined {
  if (!(schema instanceof z.ZodObject) || typeof raw !== 'object') return undefined;
  const known = Object.keys(schema.shape);
  const unknown = Object.keys(raw ?? {}).find((key) => !known.includes(key));
  const meant = unknown === undefined ? undefined : nearest(unknown, known);
  return meant === undefined ? undefined : `Did you mean "${meant}"?`;
}

/** A function, of which more is not known before it is called. */
export const functionSchema = <F extends (...given: never[]) => unknown>() =>
  z.custom<F>((value) => typeof value === 'function', 'expected a function');
