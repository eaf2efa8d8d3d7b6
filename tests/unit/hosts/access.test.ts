/** Who may use the server: the policy as truth tables. */
import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  decideRequest,
  decideUpgrade,
  isOwnHost,
  makeToken,
  type RequestFacts,
} from '../../../src/main/serve/access.ts';
import { Nonces } from '../../../src/main/serve/nonces.ts';

const nonces = new Nonces();
const access = { token: 't0ken-of-this-start', port: 4711, nonces };

/** The line's target with a proof, as a page makes it. */
const proof = (nonce: string, origin: string, token = access.token): string =>
  `/rpc?nonce=${nonce}&proof=${createHmac('sha256', token)
    .update(`${nonce}\n${origin}`)
    .digest('base64url')}`;

const page: RequestFacts = {
  method: 'GET',
  target: '/',
  host: '127.0.0.1:4711',
  origin: undefined,
};
const socket: RequestFacts = {
  ...page,
  target: `/rpc?token=${access.token}`,
  origin: 'http://127.0.0.1:4711',
};

describe('a request', () => {
  const served = { kind: 'serve', pathname: '/' };
  const admitted = { kind: 'admit' };
  const refused = (status: number) => ({ kind: 'refuse', status });
  it.each<[string, Partial<RequestFacts>, object]>([
    ['for the page is served', {}, served],
    ['by another name of this host', { host: 'localhost:4711' }, served],
    ['with the token is admitted', { target: `/?token=${access.token}` }, admitted],
    ['for the line, with the token', { target: socket.target }, refused(426)],
    ['for the line, with another token', { target: '/rpc?token=no' }, refused(401)],
    ['for the line, without token', { target: '/rpc' }, refused(401)],
    ['for a nonce', { target: '/rpc/challenge' }, { kind: 'challenge' }],
    [
      'for a nonce by a foreign Host',
      { target: '/rpc/challenge', host: 'evil.example:4711' },
      refused(421),
    ],
    ['with a foreign Host', { host: 'evil.example:4711' }, refused(421)],
    ['with another port in Host', { host: '127.0.0.1:4712' }, refused(421)],
    ['without Host', { host: undefined }, refused(421)],
    [
      'with a Host that only begins well',
      { host: '127.0.0.1.evil.example:4711' },
      refused(421),
    ],
    ['that would write', { method: 'POST' }, refused(405)],
    ['for its head', { method: 'HEAD' }, served],
    ['in absolute form', { target: 'http://127.0.0.1:4711/' }, refused(404)],
    ['for another authority', { target: '//evil.example/' }, refused(404)],
    ['that climbs', { target: '/../package.json' }, refused(404)],
    ['that climbs in escapes', { target: '/%2e%2e/package.json' }, refused(404)],
    ['with a wrong token', { target: '/?token=no' }, refused(401)],
    ['with an empty token', { target: '/?token=' }, refused(401)],
    [
      'with the token elsewhere',
      { target: `/x?token=${access.token}` },
      { kind: 'serve', pathname: '/x' },
    ],
  ])('%s', (_title, change, decision) => {
    expect(decideRequest({ ...page, ...change }, access)).toEqual(decision);
  });
});

describe('a WebSocket', () => {
  it.each<[string, Partial<RequestFacts>, number | 'open']>([
    ['with the token and own origin opens', {}, 'open'],
    ['with a wrong token', { target: '/rpc?token=no' }, 401],
    ['with an empty token', { target: '/rpc?token=' }, 401],
    ['without token', { target: '/rpc' }, 401],
    ['from another site', { origin: 'https://evil.example' }, 403],
    ['from another port', { origin: 'http://127.0.0.1:4712' }, 403],
    ['from a sandboxed page', { origin: 'null' }, 403],
    ['without an origin', { origin: undefined }, 403],
    ['from another name than it asks for', { origin: 'http://localhost:4711' }, 403],
    [
      'with a foreign Host',
      { host: 'evil.example:4711', origin: 'http://evil.example:4711' },
      421,
    ],
    ['elsewhere', { target: '/' }, 404],
  ])('%s', (_title, change, result) => {
    expect(decideUpgrade({ ...socket, ...change }, access)).toEqual(
      result === 'open' ? { kind: 'open' } : { kind: 'refuse', status: result },
    );
  });
});

describe('a proof', () => {
  const own = socket.origin!;
  const facts = (target: string): RequestFacts => ({ ...socket, target });
  const refused = { kind: 'refuse', status: 401 };

  it('opens once', () => {
    const target = proof(nonces.make(), own);
    expect(decideUpgrade(facts(target), access)).toEqual({ kind: 'open' });
    expect(decideUpgrade(facts(target), access)).toEqual(refused);
    expect(decideRequest(facts(target), access)).toEqual(refused);
  });

  it('tells a page that asks whether it would open', () => {
    const target = proof(nonces.make(), own);
    const asked = { ...facts(target), method: 'HEAD' };
    expect(decideRequest(asked, access)).toEqual({ kind: 'refuse', status: 426 });
    expect(decideUpgrade(facts(target), access)).toEqual(refused);
  });

  it('is of the name that the page was opened by', () => {
    const host = 'localhost:4711';
    const target = proof(nonces.make(), `http://${host}`);
    expect(decideUpgrade(facts(target), access)).toEqual(refused);
    const byName = { ...facts(target), host, origin: `http://${host}` };
    expect(decideUpgrade(byName, access)).toEqual({ kind: 'open' });
  });

  it.each<[string, () => string]>([
    ['for another port', () => proof(nonces.make(), 'http://127.0.0.1:4712')],
    ['with another token', () => proof(nonces.make(), own, 'another')],
    ['with a nonce of another server', () => proof(new Nonces().make(), own)],
    ['with a nonce of its own making', () => proof('0.x.y', own)],
    ['without a nonce', () => proof('', own)],
    ['without the proof', () => `/rpc?nonce=${nonces.make()}`],
  ])('%s opens nothing', (_title, target) => {
    expect(decideUpgrade(facts(target()), access)).toEqual(refused);
  });
});

describe('a nonce', () => {
  it('is good for a minute, and once', () => {
    let now = 5000.5;
    const made = new Nonces(() => now);
    const [first, second, third] = [made.make(), made.make(), made.make()];
    expect(new Set([first, second, third]).size).toBe(3);
    expect(made.use(first)).toBe(true);
    now += 59_000;
    expect(made.use(second)).toBe(true);
    expect(made.use(first)).toBe(false);
    now += 1000;
    expect(made.use(first)).toBe(false);
    expect(made.use(third)).toBe(false);
  });

  it('is of its time: another makes it another one', () => {
    const made = new Nonces(() => 0);
    const later = made.make().replace(/^0/, '9000');
    expect(made.use(later)).toBe(false);
  });
});

it('knows its own host by its names and port alone', () => {
  expect(isOwnHost('LOCALHOST:80', 80)).toBe(true);
  expect(isOwnHost('localhost', 80)).toBe(true);
  expect(isOwnHost('[::1]:8080', 8080)).toBe(true);
  expect(isOwnHost('localhost', 8080)).toBe(false);
  expect(isOwnHost('localhost:8080x', 8080)).toBe(false);
  expect(isOwnHost('127.0.0.2:8080', 8080)).toBe(false);
});

it('makes tokens of 256 bits that need no escape in a URL', () => {
  const tokens = new Set(Array.from({ length: 100 }, makeToken));
  expect(tokens.size).toBe(100);
  for (const token of tokens) {
    expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(encodeURIComponent(token)).toBe(token);
  }
});
