import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { masterPort } from '../../../src/agent/worker/master-port.ts';

const HOST = '127.0.0.1';

const listening = (port = 0): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(port, HOST, () => {
      resolve(server);
    });
  });

const range = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
const given = Number.parseInt(range, 10);

test('can be listened at', async () => {
  for (let i = 0; i < 20; i++) (await listening(await masterPort(HOST))).close();
});

// An administrator may let the system give all of them.
test.skipIf(given < 30_000)(
  'is none that the system gives to connections',
  async () => {
    for (let i = 0; i < 20; i++) {
      const port = await masterPort(HOST);
      expect(port).toBeGreaterThanOrEqual(20_000);
      expect(port).toBeLessThan(given);
    }
  },
);

test('is the last free one of those that may be used', async () => {
  const taken = await listening();
  const { port } = taken.address() as AddressInfo;
  expect(await masterPort(HOST, { first: port, last: port })).toBe(0);
  expect(await masterPort(HOST, { first: port - 1, last: port })).not.toBe(port);
  taken.close();
});
