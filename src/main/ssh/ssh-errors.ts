/** The room's errors: code, place `user@host:port`, and what to do next. */
import { saysClosed } from './closed-connection.ts';
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { HostKeyRefusal } from './host-keys/host-key-decision.ts';
import { hopText, placeOf, type SshTarget } from './target.ts';

const LONGEST_TEXT = 300;

/** The other side's text for a message: one line, without control characters. */
export function printable(text: string): string {
  const line = text
    .replace(/\p{C}+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length <= LONGEST_TEXT ? line : `${line.slice(0, LONGEST_TEXT)}…`;
}

/** The next step where a server has refused as many keys as it allows. */
export const TOO_MANY_KEYS =
  'Your SSH agent offers more keys than the server allows: name the right one with --identity FILE, and leave out the others with --identities-only yes (gradwire nodes edit).';

/**
 * @param what who offers what
 * @param outdated everything that the server offers is
 * @param builtin the client is the built-in one
 */
export function noCommonAlgorithms(
  target: SshTarget,
  what: string,
  { outdated, builtin }: { readonly outdated: boolean; readonly builtin: boolean },
): GradwireError {
  const system = 'gradwire nodes edit NAME --transport system';
  let next: string;
  if (outdated) {
    next = `These are no longer considered safe: update the server. If that cannot be, allow them for this host in ~/.ssh/config, and use the system’s ssh${builtin ? `: ${system}` : ''}.`;
  } else {
    next = builtin
      ? `The system’s ssh may know them: ${system}.`
      : 'Update OpenSSH’s client on this computer, or change what the server offers.';
  }
  return failure('SSH_NO_COMMON_ALGORITHM', what, { place: placeOf(target), next });
}

const LONGEST_QUESTION = 4000;

/** The other side's text for a question: its lines, without control sequences. */
export function printableLines(text: string): string {
  const plain = text.replace(/\r\n?/g, '\n').replace(/[^\P{C}\n]/gu, ' ');
  return plain.trim().slice(0, LONGEST_QUESTION);
}

export function unreachable(
  target: SshTarget,
  what: string,
  next = 'Check that the machine is up and that its SSH port is reachable from here.',
): GradwireError {
  return failure('SSH_UNREACHABLE', what, { place: placeOf(target), next });
}

/** The next step where a server took the connection and ended it before any log-in. */
export const HUNG_UP =
  'Try again: a server that is busy with log-ins refuses further ones for a while (MaxStartups). Otherwise check the port, and look in the server’s log for why it ended the connection.';

/** An error of connect(2) or of the resolver, in words. */
export function dialFailed(target: SshTarget, cause: unknown): GradwireError {
  const { host, port } = target;
  switch (errorCode(cause)) {
    case 'ENOTFOUND':
      return unreachable(
        target,
        `no address is known for ${host}`,
        'Check the spelling. If the name is a Host in ~/.ssh/config, check its HostName there.',
      );
    case 'EAI_AGAIN':
      return unreachable(
        target,
        `the name server does not respond for ${host}`,
        'Check this computer’s network.',
      );
    case 'ECONNREFUSED':
      return unreachable(
        target,
        `nothing listens on port ${port} of ${host}: connection refused`,
        'Check the port, and that the SSH server is running.',
      );
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return unreachable(target, `there is no route to ${host} from here`);
    case 'ETIMEDOUT':
      return unreachable(target, `${host} does not respond`);
    default:
      return unreachable(target, `cannot connect: ${messageOf(cause)}`);
  }
}

/** The code of an error, or of the first attempt if several addresses were tried. */
function errorCode(cause: unknown): string | undefined {
  const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
  return (first as NodeJS.ErrnoException | undefined)?.code;
}

export function messageOf(cause: unknown): string {
  return printable(cause instanceof Error ? cause.message : String(cause));
}

/** @param why in words, or the error that told; default: it was closed */
export function connectionLost(target: SshTarget, why?: unknown): GradwireError {
  const closed = why === undefined || saysClosed(why);
  const reason = closed ? 'it was closed' : messageOf(why);
  return failure('SSH_CONNECTION_LOST', `lost the connection: ${reason}`, {
    place: placeOf(target),
    next: 'Runs on that machine continue; connect again to see them.',
  });
}

const CLOSED = 'SSH_CONNECTION_CLOSED';

/** The error for anything still open when the connection is closed on purpose. */
export function connectionClosed(target: SshTarget): GradwireError {
  return failure(CLOSED, 'Gradwire closed the connection', {
    place: placeOf(target),
  });
}

export function isClosedOnPurpose(error: GradwireError): boolean {
  return error.code === CLOSED;
}

export function timedOut(
  target: SshTarget,
  what: string,
  milliseconds: number,
): GradwireError {
  return failure('SSH_TIMEOUT', `${what} did not finish within ${milliseconds} ms`, {
    place: placeOf(target),
    next: 'That machine may be overloaded. Try again.',
  });
}

export function aborted(target: SshTarget, what: string): GradwireError {
  return failure('ABORTED', `${what} was cancelled`, { place: placeOf(target) });
}

/** The details in the error for a refused host key. */
export interface RefusedHostKey {
  readonly keyType: string;
  readonly fingerprint: string;
  /** The conflicting line of known_hosts. */
  readonly known?: string | undefined;
  /** Whether the host is only on the way to the machine. */
  readonly isJump: boolean;
}

export function hostKeyRefused(
  code: HostKeyRefusal,
  target: SshTarget,
  { keyType, fingerprint, known, isJump }: RefusedHostKey,
): GradwireError {
  const host = hopText(target, isJump);
  const key = `${keyType} key ${fingerprint}`;
  const place = placeOf(target);
  const verify = `Compare it with what the machine's administrator tells you`;
  switch (code) {
    case 'HOST_KEY_UNKNOWN':
      return failure(code, `${host} presents an unknown ${key}`, {
        place,
        next: `${verify}; if it is the same, add --accept-host-key ${fingerprint}.`,
      });
    case 'HOST_KEY_OTHER_TYPE':
      return failure(
        code,
        `${host} presents a ${key}; only keys of other types are known (${known}), and the host offers none of those`,
        {
          place,
          next: `${verify}; if it is the same, add --accept-host-key ${fingerprint}.`,
        },
      );
    case 'HOST_KEY_CHANGED':
      return failure(
        code,
        `${host} presents a ${key}, but ${known} has a different one: someone may be intercepting the connection, or the machine was reinstalled`,
        {
          place,
          next: `${verify}; only if it is the same, remove that line and connect again.`,
        },
      );
    case 'HOST_KEY_REVOKED':
      return failure(code, `${host} presents a ${key}, which is revoked in ${known}`, {
        place,
        next: 'Do not connect. Tell the machine’s administrator.',
      });
    default:
      return code satisfies never;
  }
}
