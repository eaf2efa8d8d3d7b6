/** What a link does after an attempt to connect again has failed: every kind, in a table. */
import { expect, test } from 'vitest';
import {
  afterFailure,
  REFUSAL_PAUSES_MS,
  type FailedAttempt,
} from '../../../src/main/cluster/reconnection.ts';

const attempt = (more: Partial<FailedAttempt>): FailedAttempt => ({
  code: 'SSH_AUTH_FAILED',
  refusals: 1,
  asked: false,
  mayAsk: false,
  lostMs: 0,
  patienceMs: Infinity,
  ...more,
});

/** The steps of a link whose machine answers every attempt in the same way. */
function steps(code: string, mayAsk: boolean): string {
  const kinds: string[] = [];
  for (let refusals = 1, asked = false; refusals <= 8; refusals++) {
    const { kind } = afterFailure(attempt({ code, refusals, asked, mayAsk }));
    kinds.push(kind);
    if (kind === 'refused') break;
    asked = kind === 'ask';
  }
  return kinds.join(' ');
}

const FEW = 'retry retry retry retry refused';

// The code; then without a terminal, and at one.
test.each([
  // A key that is refused, perhaps because its home is not mounted yet.
  ['SSH_AUTH_FAILED', FEW, FEW],
  ['SSH_KEY_UNREADABLE', FEW, FEW],
  ['SSH_AGENT_UNREACHABLE', FEW, FEW],
  ['HOST_KEYS_UNCHECKED', FEW, FEW],
  // A password, a passphrase or a code.
  ['SSH_AUTH_NEEDED', FEW, 'retry ask refused'],
  // Nothing that a later attempt changes.
  ['HOST_KEY_CHANGED', 'refused', 'refused'],
  ['HOST_KEY_REVOKED', 'refused', 'refused'],
  ['HOST_KEY_REFUSED', 'refused', 'refused'],
  ['SSH_AUTH_CANCELLED', 'refused', 'refused'],
  ['SSH_PASSWORD_REFUSED', 'refused', 'refused'],
  ['SSH_PASSWORD_EXPIRED', 'refused', 'refused'],
  // A key that the user may compare.
  ['HOST_KEY_UNKNOWN', 'refused', 'ask refused'],
  ['HOST_KEY_OTHER_TYPE', 'refused', 'ask refused'],
])('%s: %s; at a terminal: %s', (code, alone, atTerminal) => {
  expect([steps(code, false), steps(code, true)]).toEqual([alone, atTerminal]);
});

test.each([
  'SSH_UNREACHABLE',
  'SSH_TIMEOUT',
  'SSH_CONNECTION_LOST',
  'SSH_LOGIN_INTERRUPTED',
  'SUPERVISOR_TIMEOUT',
  'ATTACH_FAILED',
  'ABORTED',
])('after %s it is tried again, until patience ends', (code) => {
  const later = attempt({ code, refusals: 0, lostMs: 10_000, patienceMs: 10_000 });
  expect(afterFailure(later)).toEqual({ kind: 'retry' });
  expect(afterFailure({ ...later, lostMs: 10_001 })).toEqual({ kind: 'unreachable' });
  // Who was asked when the network went away is asked again, if the machine wants it.
  expect(afterFailure({ ...later, asked: true })).toEqual({ kind: 'retry' });
});

test('a machine that refuses is left alone for longer and longer', () => {
  const pauses = [1, 2, 3, 4].map((refusals) => afterFailure(attempt({ refusals })));
  expect(pauses).toEqual(
    REFUSAL_PAUSES_MS.map((pauseMs) => ({ kind: 'retry', pauseMs })),
  );
  expect(REFUSAL_PAUSES_MS).toEqual(REFUSAL_PAUSES_MS.toSorted((a, b) => a - b));
});

test('another login node is tried when the SSH connection to this one is gone', () => {
  const step = afterFailure(attempt({ code: 'HOME_HELD_ELSEWHERE' }));
  expect(step).toMatchObject({ kind: 'retry' });
  // Half of a pause is left to chance; connections without use stay for 30 s.
  expect((step as { pauseMs: number }).pauseMs / 2).toBeGreaterThan(30_000);
});
