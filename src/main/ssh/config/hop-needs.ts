/** Demands on the client from a hop's configuration and from the files beside its keys. */
import { existsSync, readFileSync } from 'node:fs';
import { readKnownHosts } from '../host-keys/known-hosts-files.ts';
import { isOnlyAuthority, serverNames } from '../host-keys/known-hosts.ts';
import { isRevocationList } from '../host-keys/revoked-keys.ts';
import type { SshTarget } from '../target.ts';
import type { ConfigValues } from './own-parser.ts';
import type { HopNeeds } from './ssh-client-choice.ts';

/** @param values of its configuration @param command its ProxyCommand, if it is used */
export function needsOf(
  target: SshTarget,
  values: ConfigValues,
  {
    name,
    command,
    expand,
  }: {
    readonly name: string;
    readonly command: string | undefined;
    readonly expand: (text: string) => string;
  },
): HopNeeds {
  const { identities, agent, host, port, hostKeyAlias, revokedHostKeys } = target;
  const pkcs11 = values.get('pkcs11provider')?.[0];
  const known = readKnownHosts([...target.userKnownHosts, ...target.globalKnownHosts]);
  return {
    name,
    proxyCommand: command,
    pkcs11Provider: pkcs11 === 'none' ? undefined : pkcs11,
    certificates: [
      ...(values.get('certificatefile') ?? [])
        .filter((file) => file !== 'none')
        .map(expand),
      ...identities.map((file) => `${file}-cert.pub`),
    ].filter((file) => existsSync(file)),
    keys: identities
      .filter((file) => existsSync(file) || existsSync(`${file}.pub`))
      .map((file) => ({ file, token: isOnToken(file) })),
    agent: agent !== undefined && agent !== '',
    gssapi: isYes(values.get('gssapiauthentication')?.[0]),
    onlyAuthority: isOnlyAuthority(
      serverNames(host, port, hostKeyAlias),
      known.entries,
    ),
    revocationList:
      revokedHostKeys !== undefined && isRevocationList(revokedHostKeys)
        ? revokedHostKeys
        : undefined,
  };
}

/** Whether a key is on a security key, according to its public half. */
function isOnToken(file: string): boolean {
  try {
    return readFileSync(`${file}.pub`, 'utf8').startsWith('sk-');
  } catch {
    return /_sk$/.test(file); // no public half: go by the name that ssh-keygen gives
  }
}

export function isYes(value: string | undefined): boolean {
  return value !== undefined && /^(yes|true)$/i.test(value);
}
