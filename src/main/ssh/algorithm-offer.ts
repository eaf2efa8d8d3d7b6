/**
 * The algorithms that a server offers in its first message (KEXINIT, RFC 4253, section 7.1),
 * which is in clear, compared with those that the built-in client has: for the error where
 * nothing matches, since ssh2 says only which list it is.
 */
import { createRequire } from 'node:module';
import type { Readable } from 'node:stream';

/** The lists of KEXINIT that must have something in common, in its order. */
const LISTS = [
  'key exchanges',
  'host key algorithms',
  'ciphers to the server',
  'ciphers from the server',
  'MACs to the server',
  'MACs from the server',
] as const;
type ListName = (typeof LISTS)[number];
export type Offer = Readonly<Record<ListName, readonly string[]>>;

const KEXINIT = 20;
const COOKIE_BYTES = 16;
/** The greeting, the version and KEXINIT; OpenSSH's take 1.2 KB. */
const MOST_BYTES = 65_536;

/** Extensions that are announced among the key exchanges. */
const NO_EXCHANGE =
  /^(ext-info-[cs]|kex-strict-[cs]-v00@openssh\.com|kex-strict-[cs])$/;

/**
 * Algorithms that OpenSSH has dropped or does not offer by default any more: SHA-1, MD5,
 * small groups, CBC, DSA.
 */
const OUTDATED = /sha1(?!\d)|md5|dss|cbc|arcfour|ripemd|^ssh-rsa/;

/** The offer in what a server has sent so far; undefined as long as it is incomplete. */
function offerIn(bytes: Buffer): Offer | undefined {
  // Lines of greeting may come before the version.
  const version = /(^|\n)SSH-[^\n]*\n/.exec(bytes.toString('latin1'));
  if (version === null) return undefined;
  let at = version.index + version[0].length;
  if (bytes.length < at + 4) return undefined;
  const end = at + 4 + bytes.readUInt32BE(at);
  if (bytes.length < end || bytes[at + 5] !== KEXINIT) return undefined;
  at += 6 + COOKIE_BYTES;
  const offer: Partial<Record<ListName, readonly string[]>> = {};
  for (const name of LISTS) {
    if (at + 4 > end) return undefined;
    const length = bytes.readUInt32BE(at);
    const text = bytes.toString('latin1', at + 4, Math.min(end, at + 4 + length));
    offer[name] = text.split(',').filter((one) => one !== '' && !NO_EXCHANGE.test(one));
    at += 4 + length;
  }
  return offer as Offer;
}

/** Listens beside ssh2 until the offer is complete. */
export class OfferReader {
  offer: Offer | undefined;
  #seen = Buffer.alloc(0);

  constructor(stream: Readable) {
    const read = (chunk: Buffer): void => {
      this.#seen = Buffer.concat([this.#seen, chunk]);
      this.offer = offerIn(this.#seen);
      if (this.offer === undefined && this.#seen.length < MOST_BYTES) return;
      stream.removeListener('data', read);
      this.#seen = Buffer.alloc(0);
    };
    stream.on('data', read);
  }
}

/**
 * The list in which server and client have nothing in common, and whether all of it is
 * outdated.
 */
export interface Mismatch {
  readonly text: string;
  /** Everything offered is outdated: updating the server is the remedy. */
  readonly outdated: boolean;
}

/** @param hostKeys the host key algorithms that the built-in client accepts */
export function mismatchOf(
  offer: Offer,
  hostKeys: readonly string[],
): Mismatch | undefined {
  const ours = ownOffer(hostKeys);
  const list = LISTS.find(
    (name) => !offer[name].some((one) => ours[name].includes(one)),
  );
  if (list === undefined) return undefined;
  const theirs = offer[list];
  return {
    text: `the server offers only the ${list} ${theirs.join(', ') || '(none)'}; the built-in SSH client has ${ours[list].join(', ')}`,
    outdated: isOutdated(theirs),
  };
}

export const isOutdated = (algorithms: readonly string[]): boolean =>
  algorithms.every((one) => OUTDATED.test(one));

/** ssh2's defaults, which depend on what this Node's OpenSSL has. */
function ownOffer(hostKeys: readonly string[]): Offer {
  const require = createRequire(import.meta.url);
  const { DEFAULT_KEX, DEFAULT_CIPHER, DEFAULT_MAC } =
    require('ssh2/lib/protocol/constants.js') as Readonly<
      Record<'DEFAULT_KEX' | 'DEFAULT_CIPHER' | 'DEFAULT_MAC', readonly string[]>
    >;
  return {
    'key exchanges': DEFAULT_KEX,
    'host key algorithms': hostKeys,
    'ciphers to the server': DEFAULT_CIPHER,
    'ciphers from the server': DEFAULT_CIPHER,
    'MACs to the server': DEFAULT_MAC,
    'MACs from the server': DEFAULT_MAC,
  };
}
