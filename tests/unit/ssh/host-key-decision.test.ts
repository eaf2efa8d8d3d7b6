/** The truth table of host keys, whole: what the user's setting and the files make of a key. */
import { expect, it } from 'vitest';
import { decideHostKey } from '../../../src/main/ssh/host-keys/host-key-decision.ts';

/**
 * Each row: standing, setting, then the outcome where nobody can be asked, where somebody
 * can, and where the user has confirmed this very fingerprint (asked or not).
 */
const TABLE = `
  known           yes         accept              accept           accept
  known           ask         accept              accept           accept
  known           accept-new  accept              accept           accept
  known           no          accept              accept           accept
  unknown         yes         HOST_KEY_UNKNOWN    HOST_KEY_UNKNOWN remember
  unknown         ask         HOST_KEY_UNKNOWN    ask              remember
  unknown         accept-new  remember            remember         remember
  unknown         no          remember            remember         remember
  only-authority  yes         HOST_KEY_UNKNOWN    HOST_KEY_UNKNOWN remember
  only-authority  ask         HOST_KEY_UNKNOWN    ask              remember
  only-authority  accept-new  remember            remember         remember
  only-authority  no          remember            remember         remember
  other-type      yes         HOST_KEY_OTHER_TYPE HOST_KEY_OTHER_TYPE remember
  other-type      ask         HOST_KEY_OTHER_TYPE ask              remember
  other-type      accept-new  HOST_KEY_OTHER_TYPE HOST_KEY_OTHER_TYPE remember
  other-type      no          HOST_KEY_OTHER_TYPE HOST_KEY_OTHER_TYPE remember
  changed         yes         HOST_KEY_CHANGED    HOST_KEY_CHANGED HOST_KEY_CHANGED
  changed         ask         HOST_KEY_CHANGED    HOST_KEY_CHANGED HOST_KEY_CHANGED
  changed         accept-new  HOST_KEY_CHANGED    HOST_KEY_CHANGED HOST_KEY_CHANGED
  changed         no          HOST_KEY_CHANGED    HOST_KEY_CHANGED HOST_KEY_CHANGED
  revoked         yes         HOST_KEY_REVOKED    HOST_KEY_REVOKED HOST_KEY_REVOKED
  revoked         ask         HOST_KEY_REVOKED    HOST_KEY_REVOKED HOST_KEY_REVOKED
  revoked         accept-new  HOST_KEY_REVOKED    HOST_KEY_REVOKED HOST_KEY_REVOKED
  revoked         no          HOST_KEY_REVOKED    HOST_KEY_REVOKED HOST_KEY_REVOKED
`;

const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/));

function outcome(
  row: readonly string[],
  { interactive, confirmed }: { interactive: boolean; confirmed: boolean },
): string {
  const decision = decideHostKey({
    standing: row[0] as 'known',
    checking: row[1] as 'yes',
    interactive,
    confirmed,
  });
  switch (decision.action) {
    case 'accept':
      return 'accept';
    case 'accept-and-remember':
      return 'remember';
    case 'ask':
      return 'ask';
    case 'refuse':
      return decision.code;
  }
}

it('has every case once', () => {
  expect(
    new Set(rows.map(([standing, checking]) => `${standing} ${checking}`)).size,
  ).toBe(6 * 4);
});

it.each(rows)('a key that is %s under %s', (...row) => {
  expect(outcome(row, { interactive: false, confirmed: false })).toBe(row[2]);
  expect(outcome(row, { interactive: true, confirmed: false })).toBe(row[3]);
  expect(outcome(row, { interactive: false, confirmed: true })).toBe(row[4]);
  expect(outcome(row, { interactive: true, confirmed: true })).toBe(row[4]);
});

it('tells the user what is known', () => {
  for (const standing of ['unknown', 'other-type', 'only-authority'] as const) {
    expect(
      decideHostKey({ standing, checking: 'ask', interactive: true, confirmed: false }),
    ).toEqual({ action: 'ask', reason: standing });
  }
});
