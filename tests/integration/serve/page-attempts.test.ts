/** What a page in a forgotten tab leaves behind each time it fails to connect: nothing. */
import { getEventListeners } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openWebSocket } from '../../../src/renderer/state/host/web-socket-channel.ts';

let server: Server;
let address: string;
beforeAll(async () => {
  server = createServer();
  server.on('upgrade', (_request, socket) => {
    socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/rpc`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

test('attempts that fail leave no listeners', async () => {
  const { signal } = new AbortController();
  for (let attempt = 0; attempt < 5; attempt++) {
    expect(await openWebSocket(() => new WebSocket(address), signal)).toBeUndefined();
  }
  await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([]);
});
