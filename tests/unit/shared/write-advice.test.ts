import { expect, test } from 'vitest';
import { writeAdvice } from '../../../src/shared/errors/write-advice.ts';

const because = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  ['EACCES', /permissions/],
  ['EPERM', /permissions/],
  ['EROFS', /read-only/],
  ['ENOENT', /is gone/],
  ['ENOTDIR', /is gone/],
  ['EISDIR', /path of a file/],
  ['EFBIG', /ulimit -f/],
  ['ENOSPC', /^Free space\.$/],
  ['EIO', /^Free space\.$/],
])('%s: %s', (code, advice) => {
  expect(writeAdvice(because(code), 'Free space.')).toMatch(advice);
});
