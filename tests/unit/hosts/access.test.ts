/** Who may use the server: the policy as truth tables. */
import { describe, expect, it } from 'vitest';
import {
  decideRequest,
  decideUpgrade,
  isOwnHost,
  makeToken,
  type RequestFacts,
} from '../../../src/main/serve/access.ts';

const access = { token: 't0ken-of-this-start', port: 4711 };

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
