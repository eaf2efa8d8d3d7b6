/**
 * The keys of one encrypted connection: HKDF-SHA-256 of the run's secret, salted with
 * both nonces of the handshake, one key for each direction. No two connections share a
 * key, not even those of the same pair of ranks, so that every key counts its nonces from
 * 0. Pure.
 */
import { hkdfSync } from 'node:crypto';
import type { Introduction, RunIdentity } from './handshake-proof.ts';

const KEY_BYTES = 32;

export interface ConnectionKeys {
  /** Key for what this rank sends. */
  readonly send: Buffer;
  /** Key for what its peer sends. */
  readonly receive: Buffer;
}

/** @param role of this rank in the handshake */
export function deriveKeys(
  run: RunIdentity,
  introduction: Introduction,
  role: 'dialer' | 'acceptor',
): ConnectionKeys {
  const { dialer, acceptor, dialerNonce, acceptorNonce } = introduction;
  const salt = Buffer.concat([dialerNonce, acceptorNonce]);
  const keyOf = (from: number, to: number): Buffer => {
    const purpose = `gradwire data plane keys ${from} to ${to} of ${run.size} in ${run.runId}`;
    return Buffer.from(hkdfSync('sha256', run.secret, salt, purpose, KEY_BYTES));
  };
  const byDialer = keyOf(dialer, acceptor);
  const byAcceptor = keyOf(acceptor, dialer);
  return role === 'dialer'
    ? { send: byDialer, receive: byAcceptor }
    : { send: byAcceptor, receive: byDialer };
}
