import { expect, test } from 'vitest';
import { z } from 'zod';
import { plainIssue } from '../../../src/shared/checks/plain-issue.ts';

test('a key that cannot be used says which rule it breaks', () => {
  const names = z.record(
    z.string().regex(/^[A-Z]+$/, 'only capital letters'),
    z.string(),
  );
  const { error } = names.safeParse({ 'a b': '1' });
  expect(plainIssue(error!.issues[0]!)).toBe(
    'that key cannot be used: only capital letters',
  );
});
