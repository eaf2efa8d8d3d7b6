/**
 * A schema's complaint in plain words. What a schema says itself stays; zod's own words for a
 * value of the wrong kind are those of its types.
 */
import type { z } from 'zod';

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'a section with keys',
  record: 'a section with keys',
  string: 'a text',
};

/** Begins with a small letter: it follows the name of what is wrong. */
export function plainIssue(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (issue.code === 'invalid_type' && message.startsWith('Invalid input: expected ')) {
    return `expected ${KINDS[issue.expected] ?? issue.expected}`;
  }
  return message.charAt(0).toLowerCase() + message.slice(1);
}
