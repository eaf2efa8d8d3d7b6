/**
 * A schema's issue in plain words. Messages written in the schema stay; zod's own messages
 * about wrong types are replaced.
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

/** Starts with a lower-case letter: it follows the name of the value. */
export function plainIssue(issue: z.core.$ZodIssue): string {
  const { message } = issue;
  if (issue.code === 'invalid_type' && message.startsWith('Invalid input: expected ')) {
    return `expected ${KINDS[issue.expected] ?? issue.expected}`;
  }
  return message.charAt(0).toLowerCase() + message.slice(1);
}
