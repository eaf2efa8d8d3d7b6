/** Options that a program gives to the library, checked when they are given. */
import type { z } from 'zod';
import { checkedValue } from './checked-value.ts';
import { inputError } from './errors.ts';

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
    next: 'Correct the option; docs/engine.md has the range of each.',
  });
}
