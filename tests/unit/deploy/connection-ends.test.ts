/** Where the two ends of an SSH connection are, as the server tells. */
import { expect, test } from 'vitest';
import { connectionEnds } from '../../../src/main/deploy/installed.ts';

test.each([
  ['10.0.0.1 4000 10.0.0.2 22', { client: '10.0.0.1', server: '10.0.0.2' }],
  ['fd00::1 4000 fd00::2 22', { client: 'fd00::1', server: 'fd00::2' }],
  // One socket for both families.
  [
    '::ffff:10.0.0.1 4000 ::ffff:10.0.0.2 22',
    { client: '10.0.0.1', server: '10.0.0.2' },
  ],
  ['::ffff:a00:1 4000 ::1 22', { client: '::ffff:a00:1', server: '::1' }],
  ['', undefined],
  ['10.0.0.1 4000', undefined],
])('%s', (text, ends) => {
  expect(connectionEnds(text)).toEqual(ends);
});
