/**
 * A server's public key in its wire format (RFC 4253, section 6.6): its type, then its
 * numbers.
 */
import { createHash } from 'node:crypto';

export interface HostKey {
  /** `ssh-ed25519`, `ecdsa-sha2-nistp256`, `ssh-rsa`, … */
  readonly type: string;
  readonly blob: Buffer;
}

const LENGTH_BYTES = 4;

/** The key in a blob; undefined if the blob does not begin with a type. */
export function parseHostKey(blob: Buffer): HostKey | undefined {
  if (blob.length < LENGTH_BYTES) return undefined;
  const end = LENGTH_BYTES + blob.readUInt32BE(0);
  if (end === LENGTH_BYTES || end >= blob.length) return undefined;
  const type = blob.toString('latin1', LENGTH_BYTES, end);
  return /^[\x21-\x7e]+$/.test(type) ? { type, blob } : undefined;
}

/** Returns the fingerprint as `ssh-keygen -l` prints it: `SHA256:` and unpadded base64. */
export function fingerprintOf({ blob }: HostKey): string {
  const digest = createHash('sha256').update(blob).digest('base64');
  return `SHA256:${digest.replace(/=+$/, '')}`;
}

/**
 * Algorithms by which a server may prove its key, the preferred one first. ssh-rsa
 * (SHA-1) and ssh-dss are left out, as OpenSSH has done since 8.8 and 7.0.
 */
const HOST_KEY_ALGORITHMS = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

export type HostKeyAlgorithm = (typeof HOST_KEY_ALGORITHMS)[number];

const keyTypeOf = (algorithm: HostKeyAlgorithm): string =>
  algorithm.startsWith('rsa-') ? 'ssh-rsa' : algorithm;

/**
 * All algorithms, those of known key types first, so that a server with several keys
 * shows one that can be checked.
 */
export function orderAlgorithms(
  knownTypes: ReadonlySet<string>,
): readonly HostKeyAlgorithm[] {
  const known = (algorithm: HostKeyAlgorithm): boolean =>
    knownTypes.has(keyTypeOf(algorithm));
  return [
    ...HOST_KEY_ALGORITHMS.filter(known),
    ...HOST_KEY_ALGORITHMS.filter((algorithm) => !known(algorithm)),
  ];
}
