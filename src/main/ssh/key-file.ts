/**
 * Private key files: what can be read without the passphrase, and the key with it.
 * OpenSSH's format has the public part in clear, so the server can be asked whether it
 * accepts the key before the user is asked for a passphrase.
 */
import { readFileSync, statSync } from 'node:fs';
import ssh2, { type ParsedKey } from 'ssh2';

export type KeyFile =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  | { readonly kind: 'unsupported'; readonly reason: string }
  /** `publicKey` is undefined for an old format without a .pub file beside it. */
  | {
      readonly kind: 'key';
      readonly publicKey: ParsedKey | undefined;
      readonly encrypted: boolean;
      readonly text: Buffer;
    }
  /** Only FILE.pub exists; an agent may have the private part. */
  | { readonly kind: 'public'; readonly publicKey: ParsedKey };

const MAX_BYTES = 64 * 2 ** 10;
const OPENSSH =
  /-----BEGIN OPENSSH PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END OPENSSH PRIVATE KEY-----/;
const OPENSSH_MAGIC = Buffer.from('openssh-key-v1\0');

export function readKeyFile(file: string): KeyFile {
  let text: Buffer;
  try {
    const { size, mode } = statSync(file);
    if (size > MAX_BYTES) return { kind: 'unreadable', reason: 'it is too large' };
    text = readFileSync(file);
    const shared = process.platform !== 'win32' && (mode & 0o077) !== 0;
    if (shared && text.includes('PRIVATE KEY-----')) {
      const octal = (mode & 0o777).toString(8);
      return { kind: 'unreadable', reason: `other users may read it (mode ${octal})` };
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return { kind: 'unreadable', reason: message };
    const publicKey = readPublic(file);
    return publicKey === undefined ? { kind: 'absent' } : { kind: 'public', publicKey };
  }
  return describeKey(text, file);
}

function describeKey(text: Buffer, file: string): KeyFile {
  const header = openSshHeader(text.toString('latin1'));
  if (header !== undefined && /^sk-|-cert-v0/.test(header.type)) {
    return { kind: 'unsupported', reason: `${header.type} keys` };
  }
  const parsed = ssh2.utils.parseKey(text);
  if (!(parsed instanceof Error)) {
    return parsed.isPrivateKey()
      ? { kind: 'key', publicKey: parsed, encrypted: false, text }
      : { kind: 'public', publicKey: parsed };
  }
  if (!/no passphrase given/.test(parsed.message)) {
    return { kind: 'unsupported', reason: `this file (${parsed.message})` };
  }
  const publicKey =
    header === undefined ? readPublic(file) : parsePublic(header.publicBlob);
  return { kind: 'key', publicKey, encrypted: true, text };
}

/** Key files, and public halves of keys elsewhere, that do not exist. */
export const missingKeys = (files: readonly string[]): readonly string[] =>
  files.filter((file) => readKeyFile(file).kind === 'absent');

/** The next step where a log-in failed without them. */
export function missingKeysAdvice(missing: readonly string[]): string | undefined {
  if (missing.length === 0) return undefined;
  const exist = missing.length === 1 ? 'does not exist' : 'do not exist';
  return `Correct the path of the key: ${missing.join(', ')} ${exist} on this computer.`;
}

/** The key itself; undefined if the passphrase is wrong. */
export function unlockKey(text: Buffer, passphrase?: string): ParsedKey | undefined {
  // ssh2 treats an empty passphrase as none and reports that one is missing.
  const parsed = ssh2.utils.parseKey(text, passphrase);
  return parsed instanceof Error || !parsed.isPrivateKey() ? undefined : parsed;
}

function readPublic(file: string): ParsedKey | undefined {
  try {
    return parsePublic(readFileSync(`${file}.pub`));
  } catch {
    return undefined; // no such file, which is not an error
  }
}

function parsePublic(data: Buffer): ParsedKey | undefined {
  const parsed = ssh2.utils.parseKey(data);
  return parsed instanceof Error || parsed.isPrivateKey() ? undefined : parsed;
}

/** Type and public part from the clear head of OpenSSH's format (PROTOCOL.key). */
function openSshHeader(
  text: string,
): { readonly type: string; readonly publicBlob: Buffer } | undefined {
  const body = OPENSSH.exec(text)?.[1];
  if (body === undefined) return undefined;
  const data = Buffer.from(body, 'base64');
  if (!data.subarray(0, OPENSSH_MAGIC.length).equals(OPENSSH_MAGIC)) return undefined;
  let at = OPENSSH_MAGIC.length;
  const field = (): Buffer | undefined => {
    if (at + 4 > data.length) return undefined;
    const start = at + 4;
    at = start + data.readUInt32BE(at);
    return at > data.length ? undefined : data.subarray(start, at);
  };
  // Cipher, key derivation, its options, then the number of keys.
  for (let skipped = 0; skipped < 3; skipped++) {
    if (field() === undefined) return undefined;
  }
  at += 4;
  const publicBlob = field();
  if (publicBlob === undefined || publicBlob.length < 4) return undefined;
  const type = publicBlob.toString('latin1', 4, 4 + publicBlob.readUInt32BE(0));
  return { type, publicBlob };
}
