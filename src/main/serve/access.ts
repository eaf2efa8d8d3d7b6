/**
 * Access to the server: pure policy, no I/O. Every user and every web page on this
 * computer can reach loopback, so being local proves nothing:
 *
 *   Host header     must name this server: a foreign name that resolves to 127.0.0.1
 *                   (DNS rebinding) is refused
 *   token           32 random bytes, in the printed URL. The page keeps it in its storage,
 *                   which no other port can read, and sends it with its WebSocket
 *   Origin header   must be the server's own, on every WebSocket: pages of other sites
 *                   may open sockets
 *
 * A cookie would not do: browsers send it to every port of a host, and so to servers of
 * other users. The page's files are no secret: everyone has them with the package.
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
}

export type RequestDecision =
  /** 426: the token is right, but only a WebSocket is served there. */
  | { readonly kind: 'refuse'; readonly status: 401 | 404 | 405 | 421 | 426 }
  /** Let the browser keep the token, then continue to `/`. */
  | { readonly kind: 'admit' }
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
  if (url.pathname === RPC_PATH) {
    return { kind: 'refuse', status: hasToken(url, access) ? 426 : 401 };
  }
  if (url.pathname === '/' && url.searchParams.has('token')) {
    if (!hasToken(url, access)) return { kind: 'refuse', status: 401 };
    return { kind: 'admit' };
  }
  return { kind: 'serve', pathname: url.pathname };
}

export function decideUpgrade(facts: RequestFacts, access: Access): UpgradeDecision {
  if (!isOwnHost(facts.host, access.port)) return { kind: 'refuse', status: 421 };
  if (facts.origin !== `http://${facts.host}`) return { kind: 'refuse', status: 403 };
  const url = parseTarget(facts.target);
  if (url?.pathname !== RPC_PATH) return { kind: 'refuse', status: 404 };
  return hasToken(url, access) ? { kind: 'open' } : { kind: 'refuse', status: 401 };
}

export function isOwnHost(host: string | undefined, port: number): boolean {
  // A browser leaves out the scheme's default port.
  const suffix = port === 80 ? /^(:80)?$/ : new RegExp(`^:${port}$`);
  const name = /^(127\.0\.0\.1|localhost|\[::1\])(.*)$/i.exec(host ?? '');
  return name !== null && suffix.test(name[2]!);
}

/** Compared in constant time, whatever the lengths. */
function hasToken(url: URL, access: Access): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const given = url.searchParams.get('token') ?? '';
  return timingSafeEqual(digest(given), digest(access.token));
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
