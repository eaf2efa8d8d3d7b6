/** A page's way to its server: it proves that it has the token, which it never sends. */
import { createServer, type IncomingMessage } from 'node:http';
import net from 'node:net';
import os from 'node:os';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { startHttpHost, type HttpHost } from '../../../src/main/serve/http-host.ts';
import { openBrowserChannel } from '../../../src/renderer/state/host/browser-channel.ts';
import type { Opening } from '../../../src/renderer/state/host/channel.ts';
import { SmallCore } from '../../unit/rpc/small-core.ts';
import { rawRequest, rawUpgrade } from '../serve/raw-request.ts';

const TOKEN = 'the-token-of-this-home';

let host: HttpHost;
let port: number;

const start = async (onPort = 0, token = TOKEN): Promise<void> => {
  host = await startHttpHost({
    core: new SmallCore(),
    renderer: os.tmpdir(),
    port: onPort,
    token,
  });
  port = Number(new URL(host.origin).port);
};

beforeEach(() => start());
afterEach(async () => {
  vi.unstubAllGlobals();
  await host.close();
});

/** Opens the line as a page of this server does that has the token. */
async function open(token: string | undefined = TOKEN): Promise<Opening> {
  const origin = `http://127.0.0.1:${port}`;
  // As a browser's does, it says where the page comes from.
  class PageSocket extends WebSocket {
    constructor(address: URL) {
      super(address, { origin });
    }
  }
  vi.stubGlobal('WebSocket', PageSocket);
  const page = { origin, token: () => token || undefined };
  const opening = await openBrowserChannel(page)(new AbortController().signal);
  if (opening.kind === 'open') opening.channel.close();
  return opening;
}

test('opens with the token, and is refused with another or none', async () => {
  expect((await open()).kind).toBe('open');
  expect((await open('another')).kind).toBe('refused');
  expect((await open('')).kind).toBe('refused');
});

test('sends the token to nobody who listens on the port after the server', async () => {
  await host.close();
  expect((await open()).kind).toBe('unreachable');
  const asked: string[] = [];
  const record = (request: IncomingMessage): void => {
    asked.push(`${request.url} ${JSON.stringify(request.headers)}`);
  };
  const thief = createServer((request, response) => {
    record(request);
    response.statusCode = request.url === '/rpc/challenge' ? 200 : 401;
    response.end('a-nonce');
  });
  thief.on('upgrade', (request, socket) => {
    record(request);
    socket.destroy();
  });
  await new Promise<void>((resolve) => thief.listen(port, '127.0.0.1', resolve));
  expect((await open()).kind).toBe('refused');
  thief.closeAllConnections();
  await new Promise((resolve) => thief.close(resolve));
  expect(asked.map((line) => line.split(/[? ]/, 1)[0])).toEqual([
    ...['/rpc/challenge', '/rpc', '/rpc/challenge', '/rpc'],
  ]);
  for (const line of asked) expect(line).not.toContain(TOKEN);

  // Whoever has heard a proof has nothing for the next server on that port.
  const line = asked[1]!.split(' ', 1)[0]!;
  await start(port);
  const headers = { Origin: host.origin };
  expect((await rawUpgrade({ port, target: line, headers })).status).toBe(401);
  expect((await open()).kind).toBe('open');
});

test('a nonce is had by anybody, is not kept by browsers, and differs', async () => {
  const ask = (headers = {}) => rawRequest({ port, target: '/rpc/challenge', headers });
  const [one, other] = [await ask(), await ask()];
  expect(one).toMatchObject({
    status: 200,
    headers: {
      'cache-control': 'no-store',
      'content-type': 'text/plain; charset=utf-8',
    },
  });
  expect(one.body).not.toBe(other.body);
  expect((await ask({ Host: 'evil.example' })).status).toBe(421);
});

test('programs that were given the URL may send the token', async () => {
  const headers = { Origin: host.origin };
  const target = `/rpc?token=${TOKEN}`;
  expect((await rawUpgrade({ port, target, headers })).status).toBe(101);
});

test('a refused peer that keeps its side open is cut off, and does not keep the server', async () => {
  const peer = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const cut = new Promise((resolve) => peer.once('error', resolve));
  peer.write(
    [
      ...['GET /rpc HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: Upgrade'],
      ...['Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
      ...['Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''],
    ].join('\r\n'),
  );
  let text = '';
  peer.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await new Promise((resolve) => peer.once('end', resolve));
  expect(text).toMatch(/^HTTP\/1\.1 403 /);
  const writing = setInterval(() => peer.write('x'), 10);
  await cut;
  clearInterval(writing);
  await host.close();
});
