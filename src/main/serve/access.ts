/**
 * Access to the server: pure policy, no I/O. Every user and every web page on this
 * computer can reach loopback, so being local proves nothing:
 *
 *   Host header     must name this server: a foreign name that resolves to 127.0.0.1
 *                   (DNS rebinding) is refused
 *   token           32 random bytes, in the printed URL. The page keeps it in its storage,
 *                   which no other port can read, and proves with its WebSocket that it
 *                   has it. It never sends it: after this server's end somebody else's
 *                   may listen here
 *   Origin header   must be the server's own, on every WebSocket: pages of other sites
 *                   may open sockets
 *
 * A cookie would not do: browsers send it to every port of a host, and so to servers of
 * other users. The page's files are no secret: everyone has them with the package.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { CHALLENGE_PATH, provenText, RPC_PATH } from '../../shared/rpc/access-token.ts';
import type { Nonces } from './nonces.ts';
import { sameText } from './same-text.ts';

export interface Access {
  readonly token: string;
  readonly port: number;
  readonly nonces: Pick<Nonces, 'use'>;
}

/** The parts of a request that decide: headers as received, the target as sent. */
export interface RequestFacts {
  readonly method: string;
  readonly target: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
}

export type RequestDecision =
  /** 426: the token or the proof is right, but only a WebSocket is served there. */
  | { readonly kind: 'refuse'; readonly status: 401 | 404 | 405 | 421 | 426 }
  /** Let the browser keep the token, then continue to `/`. */
  | { readonly kind: 'admit' }
  /** Answer with a nonce. */
  | { readonly kind: 'challenge' }
  | { readonly kind: 'serve'; readonly pathname: string };

export type UpgradeDecision =
  | { readonly kind: 'refuse'; readonly status: 401 | 403 | 404 | 421 }
  | { readonly kind: 'open' };

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
  if (url.pathname === CHALLENGE_PATH) return { kind: 'challenge' };
  if (url.pathname === RPC_PATH) {
    return { kind: 'refuse', status: mayConnect(url, facts, access) ? 426 : 401 };
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
  return mayConnect(url, facts, access)
    ? { kind: 'open' }
    : { kind: 'refuse', status: 401 };
}

export function isOwnHost(host: string | undefined, port: number): boolean {
  // A browser leaves out the scheme's default port.
  const suffix = port === 80 ? /^(:80)?$/ : new RegExp(`^:${port}$`);
  const name = /^(127\.0\.0\.1|localhost|\[::1\])(.*)$/i.exec(host ?? '');
  return name !== null && suffix.test(name[2]!);
}

/** Programs that were given the URL send the token in it, pages a proof. */
function mayConnect(url: URL, facts: RequestFacts, access: Access): boolean {
  return hasToken(url, access) || hasProof(url, facts, access);
}

function hasToken(url: URL, access: Access): boolean {
  return sameText(url.searchParams.get('token') ?? '', access.token);
}

/** Uses the nonce if the proof is right. */
function hasProof(url: URL, { host }: RequestFacts, access: Access): boolean {
  const nonce = url.searchParams.get('nonce') ?? '';
  const proof = createHmac('sha256', access.token)
    .update(provenText(nonce, `http://${host}`))
    .digest('base64url');
  return (
    sameText(url.searchParams.get('proof') ?? '', proof) && access.nonces.use(nonce)
  );
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
