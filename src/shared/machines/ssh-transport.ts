/** The SSH client for a machine: the built-in one, or the system's `ssh`. */
const SSH_TRANSPORTS = ['builtin', 'system'] as const;
export type SshTransport = (typeof SSH_TRANSPORTS)[number];

/** `auto`: built-in, unless the configuration needs a feature of the system's `ssh`. */
export const TRANSPORT_CHOICES = ['auto', ...SSH_TRANSPORTS] as const;
export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

export interface ChosenSshClient {
  readonly kind: SshTransport;
  readonly reason: string;
}

export function transportText({ kind, reason }: ChosenSshClient): string {
  return `${kind === 'builtin' ? 'built-in SSH' : 'the system’s ssh'} (${reason})`;
}
