/**
 * Access to the server: pure policy, no I/O. Every user and every web page on this
 * computer can reach loopback, so being local proves nothing:
 *
 *   Host header     must name this server: a foreign name that resolves to 127.0.0.1
 *                   (DNS rebinding) is refused
 *   token           32 random bytes, in the printed URL. The first visit trades it for a
 *                   cookie, so that it stays neither in the address bar nor in history
 *   Origin header   must be the server's own, on every WebSocket: pages of other sites
 *                   may open sockets, and browsers send cookies with them
 *
 * A cookie is shared by all ports of a host, so its name carries the port.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

export interface Access {
  readonly token: string;
  readonly port: number;
}

/** The parts of a request that decide: headers as received, the target as sent. */
export interface RequestFacts {
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** The site that caused the request, if the browser reports it (Sec-Fetch-Site). */
  readonly site: string | undefined;
}

export type RequestDecision =
  | { readonly kind: 'refuse'; readonly status: 401 | 403 | 404 | 405 | 421 }
  /**
   * Set the cookie and continue to `/`. A cookie with SameSite=Strict is not sent on a
   * redirect that another site or a file started; in that case the page itself must
   * continue.
   */
  | { readonly kind: 'admit'; readonly by: 'redirect' | 'page' }
  | { readonly kind: 'serve'; readonly pathname: string };

export type UpgradeDecision =
  | { readonly kind: 'refuse'; readonly status: 401 | 403 | 404 | 421 }
  | { readonly kind: 'open' };

/** The path of the WebSocket. */
const RPC_PATH = '/rpc';

/** 256 random bits, safe in a URL. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

export function decideRequest(facts: RequestFacts, access: Access): RequestDecision {
  if (!isOwnHost(facts.host, access.port)) return { kind: 'refuse', status: 421 };
  if (facts.method !== 'GET' && facts.method !== 'HEAD') {
    return { kind: 'refuse', status: 405 };
  }
  const url = parseTarget(facts.target);
  if (url === undefined) return { kind: 'refuse', status: 404 };
  const token = url.searchParams.get('token');
  if (url.pathname === '/' && token !== null) {
    if (!isSame(token, access.token)) return { kind: 'refuse', status: 401 };
    const direct = facts.site === 'none' || facts.site === 'same-origin';
    return { kind: 'admit', by: direct ? 'redirect' : 'page' };
  }
  if (!hasCookie(facts.cookie, access)) return { kind: 'refuse', status: 401 };
  return { kind: 'serve', pathname: url.pathname };
}

export function decideUpgrade(facts: RequestFacts, access: Access): UpgradeDecision {
  if (!isOwnHost(facts.host, access.port)) return { kind: 'refuse', status: 421 };
  if (facts.origin !== `http://${facts.host}`) return { kind: 'refuse', status: 403 };
  const url = parseTarget(facts.target);
  if (url?.pathname !== RPC_PATH) return { kind: 'refuse', status: 404 };
  const token = url.searchParams.get('token');
  const known =
    token === null ? hasCookie(facts.cookie, access) : isSame(token, access.token);
  return known ? { kind: 'open' } : { kind: 'refuse', status: 401 };
}

export function accessCookie(access: Access): string {
  return `${cookieName(access)}=${access.token}; Path=/; HttpOnly; SameSite=Strict`;
}

export function isOwnHost(host: string | undefined, port: number): boolean {
  // A browser leaves out the scheme's default port.
  const suffix = port === 80 ? /^(:80)?$/ : new RegExp(`^:${port}$`);
  const name = /^(127\.0\.0\.1|localhost|\[::1\])(.*)$/i.exec(host ?? '');
  return name !== null && suffix.test(name[2]!);
}

function hasCookie(header: string | undefined, access: Access): boolean {
  const prefix = `${cookieName(access)}=`;
  return (header ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .some(
      (pair) =>
        pair.startsWith(prefix) && isSame(pair.slice(prefix.length), access.token),
    );
}

function cookieName(access: Access): string {
  return `gradwire-${access.port}`;
}

/** Constant time for any lengths. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/**
 * Accepts a request target in origin form only, not `//host/path` or absolute forms.
 */
function parseTarget(target: string): URL | undefined {
  if (!target.startsWith('/') || target.startsWith('//')) return undefined;
  // The path is compared as sent, because URL would resolve `..`.
  const pathname = target.split(/[?#]/, 1)[0]!;
  const url = URL.parse(target, 'http://127.0.0.1');
  return url?.pathname === pathname ? url : undefined;
}
