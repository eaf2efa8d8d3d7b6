/**
 * Decides about a key that a server shows. Pure policy, one function; its truth table is
 * tests/unit/ssh/host-key-decision.test.ts.
 *
 * Stricter than OpenSSH in two places. A changed key is refused under
 * StrictHostKeyChecking=no as well; OpenSSH connects, with a warning and without passwords.
 * And if keys of other types are known, `no` and `accept-new` do not accept a new one:
 * known types are negotiated first, so a server that shows another type has lost them all,
 * or is a different server. OpenSSH treats it as a new host.
 */
import type { HostKeyStanding } from './known-hosts.ts';

export type HostKeyRefusal =
  'HOST_KEY_CHANGED' | 'HOST_KEY_OTHER_TYPE' | 'HOST_KEY_REVOKED' | 'HOST_KEY_UNKNOWN';

type Unknown = 'unknown' | 'other-type' | 'only-authority';

export type HostKeyDecision =
  | { readonly action: 'accept' }
  | { readonly action: 'accept-and-remember' }
  | { readonly action: 'ask'; readonly reason: Unknown }
  | { readonly action: 'refuse'; readonly code: HostKeyRefusal };

export interface HostKeyCase {
  /** StrictHostKeyChecking. */
  readonly checking: 'yes' | 'accept-new' | 'ask' | 'no';
  readonly standing: HostKeyStanding['kind'];
  /** Whether the user has named this exact fingerprint (`--accept-host-key`). */
  readonly confirmed: boolean;
  /** Whether a user can be asked. */
  readonly interactive: boolean;
}

export function decideHostKey({
  checking,
  standing,
  confirmed,
  interactive,
}: HostKeyCase): HostKeyDecision {
  switch (standing) {
    case 'known':
      return { action: 'accept' };
    case 'revoked':
      return { action: 'refuse', code: 'HOST_KEY_REVOKED' };
    case 'changed':
      return { action: 'refuse', code: 'HOST_KEY_CHANGED' };
    case 'other-type':
    case 'only-authority':
    case 'unknown':
      break;
    default:
      standing satisfies never;
  }
  if (confirmed) return { action: 'accept-and-remember' };
  const code = standing === 'other-type' ? 'HOST_KEY_OTHER_TYPE' : 'HOST_KEY_UNKNOWN';
  switch (checking) {
    case 'yes':
      return { action: 'refuse', code };
    case 'ask':
      return interactive
        ? { action: 'ask', reason: standing }
        : { action: 'refuse', code };
    case 'accept-new':
    case 'no':
      return standing === 'other-type'
        ? { action: 'refuse', code }
        : { action: 'accept-and-remember' };
    default:
      return checking satisfies never;
  }
}
