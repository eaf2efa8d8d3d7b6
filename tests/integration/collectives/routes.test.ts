/** Several addresses of one peer: who answers there, which one is taken, what is told. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  connect,
  createServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { pipeline } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { HANDSHAKE_BYTES } from '../../../src/agent/transport/handshake-proof.ts';
import { connectMesh, type MeshOptions } from '../../../src/agent/transport/mesh.ts';
import { TUNNEL } from '../../../src/agent/transport/mesh-links.ts';
import { MeshSeat } from '../../../src/agent/transport/mesh-seat.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { ownAddresses } from '../../../src/agent/transport/own-addresses.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { closesSockets } from './open-sockets.ts';

const SECRET = randomBytes(32);
/** Of documentation (RFC 5737): nobody's. */
const NOBODYS = '203.0.113.7';
const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };
/** Loopback addresses that no other test has: ports there are free. */
const own = (last: number): string =>
  `127.${1 + (process.pid % 250)}.${(process.pid >> 8) % 250}.${last}`;

closesSockets();

const join = (
  seat: MeshSeat,
  rank: number,
  addresses: readonly RankAddress[],
  options: Partial<MeshOptions> = {},
): Promise<MeshTransport> =>
  connectMesh({
    listener: seat.listener,
    pulse: seat.pulse,
    rank,
    addresses,
    runId: 'run',
    secret: SECRET,
    timeoutMs: 60_000,
    ...options,
  });

async function expectWell(transports: readonly MeshTransport[]): Promise<void> {
  const [a, b] = transports;
  const into = Buffer.alloc(3);
  await Promise.all([
    a!.send(1, header, Buffer.from('abc')),
    b!.receive(0, header, into),
  ]);
  expect(String(into)).toBe('abc');
  await Promise.all(transports.map((transport) => transport.close()));
}

/** One that listens where a rank is looked for, and what it is told. */
async function stranger(
  place: { readonly host: string; readonly port: number },
  answer: (socket: Socket) => void,
): Promise<{ readonly server: Server; readonly heard: Buffer[]; close(): void }> {
  const heard: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => heard.push(chunk));
    answer(socket);
  }).listen(place);
  await once(server, 'listening');
  return {
    server,
    heard,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Ports of one address that lead to another, as a tunnel's do. */
async function tunnelTo(
  host: string,
  port: number,
): Promise<{ readonly port: number; readonly server: Server; used(): number }> {
  let used = 0;
  const server = createServer((socket) => {
    used++;
    const onward = connect({ host, port });
    pipeline(socket, onward, socket, () => undefined);
  }).listen({ host: own(6), port: 0 });
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    used: () => used,
  };
}

describe.skipIf(process.platform !== 'linux')('a peer with several addresses', () => {
  test('is found at the one where it proves who it is; strangers learn nothing', async () => {
    const seats = await Promise.all([MeshSeat.listen(own(1)), MeshSeat.listen(own(2))]);
    const { port, pulse } = seats[0]!.address;
    // One talks nonsense, one says nothing, at one nobody listens.
    const loud = await stranger({ host: own(3), port }, (socket) =>
      socket.write(randomBytes(72)),
    );
    const silent = await stranger({ host: own(4), port }, () => undefined);
    const addresses = [
      { host: own(3), hosts: [own(4), own(5), own(1)], port, pulse, node: 'box' },
      { ...seats[1]!.address, hosts: [] },
    ];
    const routes: (readonly [number, string])[] = [];
    const transports = await Promise.all([
      join(seats[0]!, 0, addresses),
      join(seats[1]!, 1, addresses, {
        routed: (peer, host) => routes.push([peer, host]),
      }),
    ]);
    expect(routes).toEqual([[0, own(1)]]);
    await expectWell(transports);
    for (const { heard, close } of [loud, silent]) {
      expect(Buffer.concat(heard)).toHaveLength(HANDSHAKE_BYTES.hello);
      close();
    }
  });

  test('none of which works is named with all of them, and both machines', async () => {
    const seats = await Promise.all([MeshSeat.listen(own(1)), MeshSeat.listen(own(2))]);
    const { port, pulse } = seats[0]!.address;
    const loud = await stranger({ host: own(3), port }, (socket) =>
      socket.end(randomBytes(72)),
    );
    const silent = await stranger({ host: own(4), port }, () => undefined);
    const at = (hosts: readonly string[]): readonly RankAddress[] => [
      { host: own(3), hosts, port, pulse, node: 'box' },
      { ...seats[1]!.address, hosts: [], node: 'cabinet' },
    ];
    await expect(
      join(seats[1]!, 1, at([own(5), own(4)]), { connectMs: 1500 }),
    ).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      rank: 0,
      message:
        `rank 0 on box cannot be reached from rank 1 on cabinet; tried port ${port} of ` +
        `${own(3)}: rank 0 did not answer like a rank of this run, ` +
        `${own(5)}: ECONNREFUSED, ${own(4)}: no answer`,
      next: expect.stringContaining('--address') as string,
    });
    for (const { close } of [loud, silent]) close();
    await seats[0]!.close();
  });

  test('that is behind a router dials where it would be dialled', async () => {
    const seats = await Promise.all([
      MeshSeat.listen(NOBODYS, { elsewhere: true }),
      MeshSeat.listen(own(2)),
    ]);
    const { host, hosts = [] } = seats[0]!.address;
    expect([host, hosts.toSorted()]).toEqual([NOBODYS, [...ownAddresses()].toSorted()]);
    // Its own addresses are not to be reached from there.
    const addresses = [{ ...seats[0]!.address, hosts: [] }, seats[1]!.address];
    const transports = await Promise.all([
      join(seats[0]!, 0, addresses),
      join(seats[1]!, 1, addresses),
    ]);
    await expectWell(transports);
  });

  test.each([
    ['that does not answer is reached through its tunnel', own(5), [[0, TUNNEL]]],
    ['that answers is not', own(1), []],
  ] as const)('%s', async (_, host, expected) => {
    const seats = await Promise.all([MeshSeat.listen(own(1)), MeshSeat.listen(own(2))]);
    const { port, pulse } = seats[0]!.address;
    const ways = await Promise.all([tunnelTo(own(1), port), tunnelTo(own(1), pulse!)]);
    const tunnel = { host: own(6), port: ways[0].port, pulse: ways[1].port };
    const addresses = [{ host, port, pulse, tunnel }, seats[1]!.address];
    const routes: (readonly [number, string])[] = [];
    const transports = await Promise.all([
      join(seats[0]!, 0, addresses),
      join(seats[1]!, 1, addresses, {
        routed: (peer, taken) => routes.push([peer, taken]),
      }),
    ]);
    expect(routes).toEqual(expected);
    await expectWell(transports);
    expect(ways.map(({ used }) => used())).toEqual(
      expected.length === 0 ? [0, 0] : [1, 1],
    );
    for (const { server } of ways) server.close();
  });

  test('listens nowhere else unless it may', async () => {
    await expect(MeshSeat.listen(NOBODYS)).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
    });
  });
});

describe('a range of ports', () => {
  test('is kept to, by signs of life too; when all are taken it is named', async () => {
    const ports = { first: 20_000, last: 20_003 };
    const seats = await Promise.all([
      MeshSeat.listen(own(9), { ports }),
      MeshSeat.listen(own(9), { ports }),
    ]);
    const taken = seats.flatMap(({ address: { port, pulse } }) => [port, pulse]);
    expect(taken.toSorted()).toEqual([20_000, 20_001, 20_002, 20_003]);
    await expect(MeshSeat.listen(own(9), { ports })).rejects.toMatchObject({
      code: 'PORTS_TAKEN',
      message: expect.stringMatching(
        /^all ports 20000-20003 of \S+ are taken$/,
      ) as string,
      next: expect.stringContaining('wider range') as string,
    });
    const addresses = seats.map(({ address }) => address);
    await expectWell(
      await Promise.all(seats.map((seat, rank) => join(seat, rank, addresses))),
    );
  });
});
