/**
 * Emulated links between real sockets: the same bytes and the same results as without, no
 * sooner than the network allows. That it takes no longer is for bench/.
 */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { effort } from '../../harness/effort.ts';
import { floats, runCollective } from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import { CARRIERS, FEW_CARRIERS, HOST, makeWorld } from './world.ts';

const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };
const network = { bandwidth: 1e9, latency: 0.1 };
const slow = { bandwidth: 20e6, latency: 0 };
/** ms of so many bytes, headers of packets left out. */
const atLeast = (bytes: number, { bandwidth, latency } = slow): number =>
  (8000 * bytes) / bandwidth + latency;

closesSockets();

describe.each(effort({ quick: FEW_CARRIERS, soak: CARRIERS }))('%s:', (_, carrier) => {
  test.each([
    ['ring', 2],
    ['rabenseifner', 4],
    ['scatter-reduce-allgather', 3],
  ])('%s between %i ranks gives the same bits by the same bytes', async (id, ranks) => {
    const inputs = Array.from({ length: ranks }, (_, rank) => floats(rank, 100_003));
    const collective = findCollective(id);
    const seen = [];
    for (const given of [undefined, network]) {
      await using world = await makeWorld(ranks, { ...carrier, network: given });
      const results = await runCollective(
        collective,
        world.communicators(),
        'dense',
        inputs,
      );
      const { transports } = world;
      for (const { counters, socketBytes } of transports) {
        const { sent, received } = counters;
        expect(socketBytes).toEqual({ sent, received });
      }
      seen.push([
        results.map(({ sum }) => Buffer.from(sum.buffer)),
        transports.map(({ counters }) => counters),
      ]);
    }
    expect(seen[1]).toEqual(seen[0]);
  });

  test('no message comes sooner than its bytes and the latency allow', async () => {
    await using world = await makeWorld(2, { ...carrier, network: slow });
    const [a, b] = world.transports;
    const data = randomBytes(100_000);
    const into = Buffer.alloc(data.length);
    const begun = performance.now();
    await Promise.all([a!.send(1, header, data), b!.receive(0, header, into)]);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(atLeast(data.length));
    expect(into.equals(data)).toBe(true);
  });

  test('a pair of nodes has its own link, and the sum is the same', async () => {
    const ranks = 3;
    const inputs = Array.from({ length: ranks }, (_, rank) => floats(rank, 10_007));
    const pairs = [{ between: ['a', 'b'] as const, ...slow }];
    const nodes = ['a', 'a', 'b'];
    const sums: Buffer[][] = [];
    for (const given of [undefined, { ...network, pairs }]) {
      await using world = await makeWorld(ranks, { ...carrier, network: given, nodes });
      const begun = performance.now();
      const results = await runCollective(
        findCollective('ring'),
        world.communicators(),
        'dense',
        inputs,
      );
      sums.push(results.map(({ sum }) => Buffer.from(sum.buffer)));
      if (given === undefined) continue;
      // What a ring brings to the rank on the other node.
      const bytes = ((2 * (ranks - 1)) / ranks) * inputs[0]!.byteLength;
      expect(performance.now() - begun).toBeGreaterThanOrEqual(atLeast(bytes));
    }
    expect(sums[1]).toEqual(sums[0]);
  });

  test('all peers of a rank share its link, out and in', async () => {
    await using world = await makeWorld(4, { ...carrier, network: slow });
    const [a, ...others] = world.transports;
    const data = randomBytes(40_000);
    const into = () => Buffer.alloc(data.length);
    for (const out of [true, false]) {
      const begun = performance.now();
      await Promise.all(
        others.flatMap((other) => {
          const [from, to] = out ? [a!, other] : [other, a!];
          return [
            from.send(to.rank, header, data),
            to.receive(from.rank, header, into()),
          ];
        }),
      );
      const elapsed = performance.now() - begun;
      expect(elapsed).toBeGreaterThanOrEqual(atLeast(3 * data.length));
    }
  });

  test('what was sent before a rank left arrives, then that it has left', async () => {
    const late = { bandwidth: 1e9, latency: 50 };
    await using world = await makeWorld(2, { ...carrier, network: late });
    const [a, b] = world.transports;
    const data = randomBytes(10_000);
    const into = Buffer.alloc(data.length);
    const first = b!.receive(0, header, into);
    const second = b!.receive(0, header, Buffer.alloc(1));
    const lost = expect(second).rejects.toMatchObject({ code: 'PEER_LOST', rank: 0 });
    await a!.send(1, header, data);
    await a!.close();
    await first;
    expect(into.equals(data)).toBe(true);
    await lost;
  });

  test('why a rank gave up reaches the others', async () => {
    await using world = await makeWorld(2, { ...carrier, network });
    const [a, b] = world.transports;
    const waiting = b!.receive(0, header, Buffer.alloc(1));
    a!.abort({ code: 'TEST', kind: 'failure', message: 'gave up' });
    await expect(waiting).rejects.toMatchObject({ code: 'TEST', message: 'gave up' });
  });

  test('a rank must wait while no rank receives from it', async () => {
    const limits = { pauseBytes: 0, failBytes: 2 ** 30 };
    await using world = await makeWorld(2, { ...carrier, network, limits });
    const [a, b] = world.transports;
    const data = randomBytes(24 * 2 ** 20);
    const into = Buffer.alloc(data.length);
    let sent = false;
    const sending = a!.send(1, header, data).then(() => {
      sent = true;
    });
    await expect.poll(() => b!.socketBytes.received).toBeGreaterThan(10_000);
    expect(sent).toBe(false);
    await b!.receive(0, header, into);
    await sending;
    expect(into.equals(data)).toBe(true);
  });
});

test('a link that one side alone emulates is refused by both', async () => {
  const listeners = await Promise.all([listenTcp(HOST), listenTcp(HOST)]);
  const addresses = listeners.map(({ address }) => address);
  const run = { addresses, runId: 'odd', secret: randomBytes(32), timeoutMs: 60_000 };
  const ranks = await Promise.all(
    listeners.map((listener, rank) =>
      connectMesh({
        ...run,
        listener,
        rank,
        network: rank === 0 ? network : undefined,
      }),
    ),
  );
  const [a, b] = ranks;
  const waiting = Promise.allSettled([
    a!.receive(1, header, Buffer.alloc(8)),
    b!.receive(0, header, Buffer.alloc(8)),
  ]);
  await Promise.allSettled([
    a!.send(1, header, Buffer.alloc(8)),
    b!.send(0, header, Buffer.alloc(8)),
  ]);
  const results = await waiting;
  await Promise.all(ranks.map((rank) => rank.close()));
  for (const result of results) {
    expect(result).toMatchObject({ status: 'rejected' });
    expect((result as { reason: { code: string } }).reason.code).toMatch(
      /LINK_NOT_EMULATED|FRAME_INVALID|PEER_LOST/,
    );
  }
});
