/**
 * Chooses the SSH client for a machine. `auto` takes the built-in client unless the
 * configuration names something that it lacks. Settings that many distributions enable
 * everywhere, such as GSSAPIAuthentication, count only if there is no other way to log
 * in. Pure policy; its truth table is tests/unit/ssh/ssh-client-choice.test.ts.
 */
import { failure } from '../../../shared/errors/errors.ts';
import type {
  ChosenSshClient,
  TransportChoice,
} from '../../../shared/machines/ssh-transport.ts';

/** Features in one hop's configuration that the built-in client may lack. */
export interface HopNeeds {
  readonly name: string;
  readonly proxyCommand?: string | undefined;
  readonly pkcs11Provider?: string | undefined;
  /** Existing files of the user's certificates. */
  readonly certificates: readonly string[];
  /** Existing key files; `token`: on a security key (sk-). */
  readonly keys: readonly { readonly file: string; readonly token: boolean }[];
  readonly agent: boolean;
  readonly gssapi: boolean;
  /** A certificate authority is known for the host, but no key of its own. */
  readonly onlyAuthority: boolean;
  /** RevokedHostKeys, if that file is a KRL: OpenSSH's binary format. */
  readonly revocationList?: string | undefined;
}

export interface TransportCase {
  readonly asked: TransportChoice;
  /** All hops, the directly reached one first. */
  readonly hops: readonly HopNeeds[];
  /** Whether this computer has an OpenSSH client that can share connections. */
  readonly client: boolean;
}

/** @throws GradwireError `SSH_PROXY_COMMAND`, `SSH_REVOCATION_LIST`, `SSH_CLIENT_MISSING` */
export function chooseSshClient({
  asked,
  hops,
  client,
}: TransportCase): ChosenSshClient {
  const needs = hops.flatMap((hop) => {
    const need = needOf(hop);
    return need === undefined ? [] : [hops.length > 1 ? `${hop.name}: ${need}` : need];
  });
  const system = asked === 'system' || (asked === 'auto' && needs.length > 0);
  if (system && client) {
    return {
      kind: 'system',
      reason: asked === 'system' ? 'as you chose' : needs.join('; '),
    };
  }
  if (asked === 'system') {
    throw failure('SSH_CLIENT_MISSING', 'this computer has no usable ssh client', {
      place: hops.at(-1)?.name,
      next: 'Install OpenSSH’s client, or use the built-in one: gradwire nodes edit NAME --transport builtin.',
    });
  }
  const command = hops.find(({ proxyCommand }) => proxyCommand !== undefined);
  if (command !== undefined) {
    throw failure(
      'SSH_PROXY_COMMAND',
      `is reached by a ProxyCommand: ${command.proxyCommand}`,
      {
        place: command.name,
        next: client
          ? 'The built-in client does not support that. Use the system’s: gradwire nodes edit NAME --transport system.'
          : 'That needs OpenSSH’s client on this computer; if the command is "ssh -W", use ProxyJump instead.',
      },
    );
  }
  const list = hops.find(({ revocationList }) => revocationList !== undefined);
  if (list !== undefined) {
    throw failure(
      'SSH_REVOCATION_LIST',
      `its RevokedHostKeys are a KRL, which only OpenSSH reads: ${list.revocationList}`,
      {
        place: list.name,
        next: client
          ? 'Add the machine with --transport system, or list the keys as text.'
          : 'Install OpenSSH’s client on this computer, or list the keys as text.',
      },
    );
  }
  return {
    kind: 'builtin',
    reason:
      asked === 'builtin'
        ? 'as you chose'
        : 'its configuration does not need the system’s ssh',
  };
}

/** The feature that the built-in client lacks for this hop, in words. */
function needOf({
  proxyCommand,
  pkcs11Provider,
  certificates,
  keys,
  agent,
  gssapi,
  onlyAuthority,
  revocationList,
}: HopNeeds): string | undefined {
  if (proxyCommand !== undefined) return `ProxyCommand ${proxyCommand}`;
  if (pkcs11Provider !== undefined) return `PKCS11Provider ${pkcs11Provider}`;
  if (certificates.length > 0) return `the certificate ${certificates[0]}`;
  if (onlyAuthority) return 'a certificate authority vouches for its host key';
  if (revocationList !== undefined) return `the revocation list ${revocationList}`;
  if (keys.length > 0 && keys.every(({ token }) => token) && !agent) {
    return `the security key of ${keys[0]!.file}`;
  }
  if (gssapi && keys.length === 0 && !agent) {
    return 'GSSAPIAuthentication, with neither key nor agent';
  }
  return undefined;
}
