/** Ranks at IPv6 addresses, over real sockets and both transports. */
import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { MeshSeat } from '../../../src/agent/transport/mesh-seat.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { ownAddresses } from '../../../src/agent/transport/own-addresses.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { effort } from '../../harness/effort.ts';
import { ipv6Missing } from '../../harness/namespaces.ts';
import { closesSockets } from './open-sockets.ts';
import { meshOf, TRANSPORT_KINDS, type TransportKind } from './world.ts';

const missing = ipv6Missing();
const because = missing === undefined ? '' : ` (skipped: ${missing})`;
const LOOPBACK = '::1';
/** Of documentation (RFC 3849): nobody's. */
const NOBODYS = '2001:db8::7';
const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };
const PAYLOAD = randomBytes(300_000);

closesSockets();

/** Two ranks that look for each other at these addresses, and where the first was found. */
async function meet(
  seats: readonly MeshSeat[],
  addresses: readonly RankAddress[],
  kind: TransportKind,
): Promise<string> {
  const run = { runId: 'run', secret: randomBytes(32), timeoutMs: 60_000 };
  const mesh = await meshOf(kind);
  let at = addresses[0]!.host;
  const [a, b] = (await Promise.all(
    seats.map(({ listener, pulse }, rank) =>
      connectMesh({
        listener,
        pulse,
        rank,
        addresses,
        encrypt: true,
        ...run,
        ...mesh,
        routed: (_, host) => {
          at = host;
        },
      }),
    ),
  )) as [MeshTransport, MeshTransport];
  const into = Buffer.alloc(PAYLOAD.length);
  await Promise.all([b.receive(0, header, into), a.send(1, header, PAYLOAD)]);
  await Promise.all([a.receive(1, header, into), b.send(0, header, into)]);
  expect(into.equals(PAYLOAD)).toBe(true);
  await Promise.all([a.close(), b.close()]);
  return at;
}

describe.skipIf(missing !== undefined)(`at IPv6 addresses${because}`, () => {
  test.each(TRANSPORT_KINDS)('ranks meet at ::1 over %s', async (kind) => {
    const seats = await Promise.all([
      MeshSeat.listen(LOOPBACK),
      MeshSeat.listen(LOOPBACK),
    ]);
    const addresses = seats.map(({ address }) => ({ ...address, local: undefined }));
    expect(addresses[0]).toMatchObject({ host: LOOPBACK });
    expect(addresses[0]).not.toHaveProperty('hosts');
    expect(await meet(seats, addresses, kind)).toBe(LOOPBACK);
  });

  test.each(
    effort<readonly TransportKind[]>({ quick: ['tcp'], soak: TRANSPORT_KINDS }),
  )(
    'one whose address is another machine’s is found by either family, over %s',
    async (kind) => {
      for (const host of ['127.0.0.1', LOOPBACK]) {
        const seats = await Promise.all([
          MeshSeat.listen(NOBODYS, { elsewhere: true }),
          MeshSeat.listen(LOOPBACK),
        ]);
        const { address } = seats[0]!;
        expect(address.host).toBe(NOBODYS);
        expect(address.hosts!.toSorted()).toEqual([...ownAddresses()].toSorted());
        const addresses = [
          { ...address, local: undefined, hosts: [host] },
          { ...seats[1]!.address, hosts: [] },
        ];
        expect(await meet(seats, addresses, kind)).toBe(host);
      }
    },
  );

  test('a machine known only by a link-local address offers its other addresses', async () => {
    const seat = await MeshSeat.listen('fe80::1%nowhere', { elsewhere: true });
    const { host, hosts = [] } = seat.address;
    await seat.close();
    expect([host, ...hosts].toSorted()).toEqual([...ownAddresses()].toSorted());
  });

  test('errors show the address in brackets', async () => {
    const seat = await MeshSeat.listen(LOOPBACK);
    const { port, pulse } = seat.address;
    await seat.close();
    const caller = await MeshSeat.listen(LOOPBACK);
    await expect(
      connectMesh({
        listener: caller.listener,
        pulse: caller.pulse,
        rank: 1,
        runId: 'run',
        secret: randomBytes(32),
        timeoutMs: 60_000,
        addresses: [{ host: LOOPBACK, port, pulse }, caller.address],
      }),
    ).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      message: `rank 0 cannot be reached at [::1]:${port} (ECONNREFUSED)`,
    });
  });
});

test('addresses of one’s own are those that other machines can use', () => {
  const all = Object.values(networkInterfaces()).flatMap((some) => some ?? []);
  for (const address of ownAddresses()) {
    const [found] = all.filter((one) => one.address === address);
    expect(found).toMatchObject({ internal: false });
    expect(found!.scopeid ?? 0).toBe(0);
  }
});
