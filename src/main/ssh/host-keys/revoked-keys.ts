/**
 * The file of RevokedHostKeys (ssh_config(5)): public keys as text, one a line, which no
 * host may have. It may also be a KRL (PROTOCOL.krl in OpenSSH), which only OpenSSH reads.
 */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { failure } from '../../../shared/errors/errors.ts';
import { parseHostKey } from './host-key.ts';
import type { KnownHost } from './known-hosts.ts';

const KRL_MAGIC = 'SSHKRL\n\0';

/** False for a file that cannot be read: `readRevokedKeys` reports it. */
export function isRevocationList(file: string): boolean {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const start = Buffer.alloc(KRL_MAGIC.length);
      readSync(descriptor, start, 0, start.length, 0);
      return start.toString('latin1') === KRL_MAGIC;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

/**
 * Reads the keys of a list, as entries that hold for every host.
 * @param place of the host, for the error
 * @throws GradwireError `HOST_KEYS_UNCHECKED`: as with OpenSSH, a list that cannot be read
 * lets no host through
 */
export function readRevokedKeys(file: string, place: string): readonly KnownHost[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw failure(
      'HOST_KEYS_UNCHECKED',
      `cannot read RevokedHostKeys: ${(cause as Error).message}`,
      { place, next: `Make ${file} readable, or remove the setting.` },
    );
  }
  return text.split('\n').flatMap((line, index) => {
    const key = keyOf(line);
    if (key === undefined) return [];
    const entry = { key, place: `${file}:${index + 1}`, matches: () => true };
    return [{ ...entry, marker: 'revoked' as const }];
  });
}

/** The key in a line; undefined if it has none: OpenSSH passes over such lines, too. */
function keyOf(line: string): KnownHost['key'] | undefined {
  const [type, base64] = line.trim().split(/[ \t]+/);
  const key = parseHostKey(Buffer.from(base64 ?? '', 'base64'));
  return key?.type === type ? key : undefined;
}
