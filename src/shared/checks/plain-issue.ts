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
  if (issue.code === 'too_big' || issue.code === 'too_small') {
    const limit = limitText(issue);
    if (limit !== undefined && /^Too (big|small): /.test(message)) return limit;
  }
  // The rule of the key itself, instead of "invalid key in record".
  if (issue.code === 'invalid_key' && issue.issues[0] !== undefined) {
    return `that key cannot be used: ${plainIssue(issue.issues[0])}`;
  }
  return message.charAt(0).toLowerCase() + message.slice(1);
}

/** `it must be at most 1024`; undefined for what is no number, text or list. */
function limitText(
  issue: z.core.$ZodIssueTooBig | z.core.$ZodIssueTooSmall,
): string | undefined {
  const isMost = issue.code === 'too_big';
  const limit = isMost ? issue.maximum : issue.minimum;
  // The limit of exact integers, which is nobody's: the value's own has not been looked at.
  if (Math.abs(Number(limit)) === Number.MAX_SAFE_INTEGER) {
    return isMost ? 'it is too large' : 'it is too small';
  }
  const { inclusive = true, origin } = issue;
  switch (origin) {
    case 'number':
    case 'int': {
      const than = isMost ? 'below' : 'above';
      const upTo = isMost ? 'at most' : 'at least';
      return `it must be ${inclusive ? upTo : than} ${limit}`;
    }
    case 'string':
      return `it must have ${isMost ? 'at most' : 'at least'} ${counted(limit, 'character')}`;
    case 'array':
      return `it must have ${isMost ? 'at most' : 'at least'} ${counted(limit, 'item')}`;
    default:
      return undefined;
  }
}

const counted = (count: number | bigint, what: string): string =>
  `${count} ${what}${Number(count) === 1 ? '' : 's'}`;
