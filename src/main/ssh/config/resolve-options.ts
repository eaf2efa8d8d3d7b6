/** Options of reading ~/.ssh/config for a destination. */
import os from 'node:os';
import type { TransportChoice } from '../../../shared/machines/ssh-transport.ts';

/** The user's choices that come before the configured ones. */
export interface ResolveOptions {
  /** Read instead of the user's and the system's file, as with `ssh -F`. */
  readonly configFile?: string | undefined;
  /** `own`: never ask OpenSSH's client. */
  readonly parser?: 'openssh' | 'own' | undefined;
  readonly home?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Files of keys that are tried first. */
  readonly identities?: readonly string[] | undefined;
  /** Instead of the configured IdentitiesOnly. */
  readonly identitiesOnly?: boolean | undefined;
  /** Instead of the configured ProxyJump: its value, or `none`. */
  readonly jump?: string | undefined;
  /** The SSH client to use; default: `auto`. */
  readonly transport?: TransportChoice | undefined;
}

/** The user's home. OpenSSH uses the password file, not $HOME. */
export function homeOf({ home }: ResolveOptions): string {
  return home ?? os.userInfo().homedir;
}
