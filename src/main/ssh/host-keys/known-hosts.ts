/**
 * The known_hosts format (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) and what its entries say
 * about a key. Text in, facts out: reads no file and decides nothing.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { parseHostKey, type HostKey } from './host-key.ts';

export interface KnownHost {
  /** The line's marker for the key; default: it is the host's. */
  readonly marker?: 'revoked' | 'cert-authority' | undefined;
  readonly key: HostKey;
  /** The entry's position: `FILE:LINE`. */
  readonly place: string;
  readonly matches: (name: string) => boolean;
}

/** A line that is not an entry, and why. */
interface SkippedLine {
  readonly place: string;
  readonly reason: string;
}

export interface KnownHosts {
  readonly entries: readonly KnownHost[];
  readonly skipped: readonly SkippedLine[];
}

/** Names under which a server is looked up. */
export interface ServerNames {
  /** The alias, the host, or `[host]:port` if the port is not 22. */
  readonly name: string;
  /** The host alone, because a key at port 22 also holds at other ports. */
  readonly withoutPort?: string | undefined;
}

/** The standing of a key that a server has shown, by the known_hosts files. */
export type HostKeyStanding =
  | { readonly kind: 'known' }
  | { readonly kind: 'revoked'; readonly place: string }
  /** Another key of the same type. */
  | { readonly kind: 'changed'; readonly place: string }
  /** Only keys of other types. */
  | { readonly kind: 'other-type'; readonly place: string }
  /** Only a certificate authority. */
  | { readonly kind: 'only-authority'; readonly place: string }
  | { readonly kind: 'unknown' };

const MARKERS: Readonly<Record<string, KnownHost['marker']>> = {
  '@revoked': 'revoked',
  '@cert-authority': 'cert-authority',
};

export function parseKnownHosts(text: string, file: string): KnownHosts {
  const entries: KnownHost[] = [];
  const skipped: SkippedLine[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const place = `${file}:${index + 1}`;
    const parsed = parseLine(line);
    if (typeof parsed === 'string') skipped.push({ place, reason: parsed });
    else entries.push({ ...parsed, place });
  }
  return { entries, skipped };
}

/** The entry, or what is wrong with the line. */
function parseLine(line: string): Omit<KnownHost, 'place'> | string {
  const fields = line.split(/[ \t]+/);
  let marker: KnownHost['marker'];
  if (fields[0]!.startsWith('@')) {
    marker = MARKERS[fields[0]!];
    if (marker === undefined) return `unknown marker ${fields[0]}`;
    fields.shift();
  }
  const [hosts, type, base64] = fields;
  if (hosts === undefined || type === undefined || base64 === undefined) {
    return 'not HOSTS TYPE KEY';
  }
  const blob = Buffer.from(base64, 'base64');
  // Node's decoder accepts anything, so only text that it reproduces is base64.
  if (blob.toString('base64') !== base64) return 'the key is not base64';
  const key = parseHostKey(blob);
  if (key?.type !== type) return `the key is not of type ${type}`;
  const matches = hosts.startsWith('|') ? hashedName(hosts) : namePatterns(hosts);
  return matches === undefined
    ? 'a hashed name not of the form |1|SALT|HASH'
    : { marker, key, matches };
}

/** `|1|SALT|HASH`: the HMAC-SHA1 of one name. */
function hashedName(field: string): ((name: string) => boolean) | undefined {
  const [empty, version, salt, hash, ...rest] = field.split('|');
  if (empty !== '' || version !== '1' || rest.length > 0) return undefined;
  if (salt === undefined || hash === undefined) return undefined;
  const key = Buffer.from(salt, 'base64');
  const expected = Buffer.from(hash, 'base64');
  return (name) => {
    const digest = createHmac('sha1', key).update(name).digest();
    return digest.length === expected.length && timingSafeEqual(digest, expected);
  };
}

/** Comma-separated patterns; a matching one that begins with ! excludes the name. */
function namePatterns(field: string): (name: string) => boolean {
  const patterns = field
    .toLowerCase()
    .split(',')
    .filter((pattern) => pattern !== '');
  return (name) => matchesPatterns(name, patterns);
}

/**
 * OpenSSH's pattern list: * and ?, and ! for what must not match. At least one without !
 * has to match. Case-sensitive: host names are lower-cased first.
 */
export function matchesPatterns(name: string, patterns: readonly string[]): boolean {
  let found = false;
  for (const pattern of patterns) {
    const negated = pattern.startsWith('!');
    if (!matchesPattern(name, negated ? pattern.slice(1) : pattern)) continue;
    if (negated) return false;
    found = true;
  }
  return found;
}

/** Linear in name × pattern: a regular expression of many * could take forever. */
function matchesPattern(name: string, pattern: string): boolean {
  let at = 0;
  let from = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    if (pattern[from] === '*') {
      star = from++;
      starAt = at;
    } else if (pattern[from] === '?' || pattern[from] === name[at]) {
      from++;
      at++;
    } else if (star >= 0) {
      from = star + 1;
      at = ++starAt;
    } else {
      return false;
    }
  }
  while (pattern[from] === '*') from++;
  return from === pattern.length;
}

export function serverNames(
  host: string,
  port: number,
  alias: string | undefined,
): ServerNames {
  if (alias !== undefined) return { name: alias.toLowerCase() };
  const name = host.toLowerCase();
  return port === 22 ? { name } : { name: `[${name}]:${port}`, withoutPort: name };
}

/** Types of the keys that are known for a server. */
export function knownTypes(
  names: ServerNames,
  entries: readonly KnownHost[],
): ReadonlySet<string> {
  const own = keysOf(names.name, entries);
  const keys =
    own.length === 0 && names.withoutPort !== undefined
      ? keysOf(names.withoutPort, entries)
      : own;
  return new Set(keys.map(({ key }) => key.type));
}

/** Judges a key by all files together: a match anywhere outweighs a change. */
export function standingOf(
  key: HostKey,
  names: ServerNames,
  entries: readonly KnownHost[],
): HostKeyStanding {
  const same = (entry: KnownHost): boolean => entry.key.blob.equals(key.blob);
  const { name, withoutPort } = names;
  const all = withoutPort === undefined ? [name] : [name, withoutPort];
  const revoked = entries.find(
    (entry) =>
      entry.marker === 'revoked' &&
      same(entry) &&
      all.some((one) => entry.matches(one)),
  );
  if (revoked !== undefined) return { kind: 'revoked', place: revoked.place };
  const own = keysOf(name, entries);
  if (own.some(same)) return { kind: 'known' };
  const changed = own.find((entry) => entry.key.type === key.type);
  if (changed !== undefined) return { kind: 'changed', place: changed.place };
  if (own.length > 0) return { kind: 'other-type', place: own[0]!.place };
  if (withoutPort !== undefined && keysOf(withoutPort, entries).some(same)) {
    return { kind: 'known' };
  }
  const authority = entries.find(
    (entry) => entry.marker === 'cert-authority' && entry.matches(name),
  );
  if (authority !== undefined) {
    return { kind: 'only-authority', place: authority.place };
  }
  return { kind: 'unknown' };
}

/** Whether an authority vouches for the host, and no key of its own is known. */
export function isOnlyAuthority(
  { name, withoutPort }: ServerNames,
  entries: readonly KnownHost[],
): boolean {
  const hasKeys = (one: string): boolean => keysOf(one, entries).length > 0;
  return (
    entries.some(
      ({ marker, matches }) => marker === 'cert-authority' && matches(name),
    ) &&
    !hasKeys(name) &&
    !(withoutPort !== undefined && hasKeys(withoutPort))
  );
}

function keysOf(name: string, entries: readonly KnownHost[]): readonly KnownHost[] {
  return entries.filter(({ marker, matches }) => marker === undefined && matches(name));
}
