/** The error of a log-in for which no key could be offered. */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { UnusableKey } from './key-candidate.ts';

export const NOT_SUPPORTED = 'the built-in SSH client does not support';

export function unusableKey(
  { kind, file, reason }: UnusableKey,
  place: string,
): GradwireError {
  switch (kind) {
    case 'unsupported':
      return failure(
        'SSH_KEY_UNSUPPORTED',
        `cannot use ${file}: ${NOT_SUPPORTED} ${reason}`,
        {
          place,
          next: 'Use another key: ed25519, ECDSA or RSA, in OpenSSH’s format (convert with ssh-keygen -p -f FILE).',
        },
      );
    case 'agent':
      return failure(
        'SSH_AGENT_UNREACHABLE',
        `the SSH agent does not answer: ${reason}`,
        {
          place: file,
          next: 'Start it, or name a key file.',
        },
      );
    case 'unreadable':
    case 'absent':
      return failure('SSH_KEY_UNREADABLE', `cannot use ${file}: ${reason}`, {
        place,
        next: `Make the file readable only by you: chmod 600 ${file}.`,
      });
    default:
      return kind satisfies never;
  }
}
