/**
 * When a user's certificate is valid. An OpenSSH client offers an expired one without a word,
 * and the server refuses it without a reason. Its form is that of OpenSSH's PROTOCOL.certkeys.
 */
import { readFileSync } from 'node:fs';

/** Strings between the nonce and the serial number: the parts of the public key. */
const KEY_PARTS: Readonly<Record<string, number>> = {
  'ssh-ed25519-cert-v01@openssh.com': 1,
  'sk-ssh-ed25519-cert-v01@openssh.com': 2,
  'ssh-rsa-cert-v01@openssh.com': 2,
  'ecdsa-sha2-nistp256-cert-v01@openssh.com': 2,
  'ecdsa-sha2-nistp384-cert-v01@openssh.com': 2,
  'ecdsa-sha2-nistp521-cert-v01@openssh.com': 2,
  'sk-ecdsa-sha2-nistp256-cert-v01@openssh.com': 3,
};

/** Seconds since 1970. */
export interface Validity {
  readonly from: bigint;
  readonly until: bigint;
}

/** The time in which a certificate is valid; undefined if the file cannot be read as one. */
export function validityOf(file: string): Validity | undefined {
  try {
    const [type = '', base64 = ''] = readFileSync(file, 'utf8').trim().split(/\s+/);
    const parts = KEY_PARTS[type];
    if (parts === undefined) return undefined;
    const blob = Buffer.from(base64, 'base64');
    let at = 0;
    const skip = (strings: number): void => {
      for (let n = 0; n < strings; n++) at += 4 + blob.readUInt32BE(at);
    };
    // Type, nonce and key; serial number and kind; key id and principals.
    skip(2 + parts);
    at += 8 + 4;
    skip(2);
    return { from: blob.readBigUInt64BE(at), until: blob.readBigUInt64BE(at + 8) };
  } catch {
    return undefined;
  }
}

/** Returns why a certificate is not valid at `now` (ms since 1970); undefined if it is. */
export function notValid({ from, until }: Validity, now: number): string | undefined {
  const seconds = BigInt(Math.floor(now / 1000));
  if (seconds >= until) return `expired at ${momentOf(until)}`;
  if (seconds < from) return `is valid only from ${momentOf(from)} on`;
  return undefined;
}

const momentOf = (seconds: bigint): string =>
  new Date(Number(seconds) * 1000)
    .toISOString()
    .replace('.000Z', ' UTC')
    .replace('T', ' ');
