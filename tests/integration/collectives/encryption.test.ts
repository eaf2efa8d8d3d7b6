/** An encrypted data plane: nothing to read on the wire, and nothing to change on it. */
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { GradwireError } from '../../../src/shared/errors/errors.ts';
import { ring } from '../../../src/agent/collectives/ring.ts';
import { sealedFraming } from '../../../src/agent/transport/frame-seal.ts';
import { DIALER_BYTES } from '../../../src/agent/transport/handshake.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import { liveMemory } from '../../harness/live-memory.ts';
import { MeddlingProxy, type Meddle } from './meddling-proxy.ts';
import {
  firstDifference,
  generator,
  integers,
  isFilledWith,
  runCollective,
  sumOf,
} from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import {
  HOST,
  makeWorld,
  meshOf,
  TRANSPORT_KINDS,
  type TransportKind,
} from './world.ts';

const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };

closesSockets();

interface Pair extends AsyncDisposable {
  readonly ranks: readonly [MeshTransport, MeshTransport];
  readonly proxy: MeddlingProxy;
}

/** Two ranks, and somebody in between. */
async function pairOf(
  kind: TransportKind,
  meddle: Meddle,
  encrypt = true,
): Promise<Pair> {
  const listeners = await Promise.all([listenTcp(HOST), listenTcp(HOST)]);
  const own = listeners.map(({ address }) => address);
  const proxy = await MeddlingProxy.before(own[0]!, meddle);
  const run = {
    runId: 'meddled',
    secret: randomBytes(32),
    timeoutMs: 60_000,
    encrypt,
    ...(await meshOf(kind)),
  };
  const ranks = await Promise.all([
    connectMesh({ ...run, listener: listeners[0]!, rank: 0, addresses: own }),
    connectMesh({
      ...run,
      listener: listeners[1]!,
      rank: 1,
      addresses: [proxy.address, own[1]!],
    }),
  ]);
  return {
    ranks,
    proxy,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(ranks.map((rank) => rank.close()));
      proxy[Symbol.dispose]();
    },
  };
}

/** How it ended for both, where both wait for a message of the other. */
async function outcomes(
  { ranks: [a, b] }: Pair,
  data: Uint8Array,
): Promise<{ codes: unknown[]; into: Uint8Array }> {
  const into = new Uint8Array(data.length);
  const waiting = [
    a.receive(1, header, into),
    b.receive(0, header, Buffer.alloc(1)),
    b.send(0, header, data),
  ];
  const codes = (await Promise.allSettled(waiting.slice(0, 2))).map((result) =>
    result.status === 'rejected' ? (result.reason as GradwireError).code : 'fulfilled',
  );
  await Promise.allSettled(waiting);
  return { codes, into };
}

describe.each(TRANSPORT_KINDS)('%s:', (kind) => {
  const data = Buffer.from('all that a gradient says about its data '.repeat(3000));

  test('what travels shows nothing of what was sent, and is counted', async () => {
    await using pair = await pairOf(kind, (sent) => sent);
    const [a, b] = pair.ranks;
    const into = Buffer.alloc(data.length);
    await Promise.all([b.send(0, header, data), a.receive(1, header, into)]);
    expect(into.equals(data)).toBe(true);
    expect(pair.proxy.sent).toHaveLength(
      DIALER_BYTES + data.length + sealedFraming(data.length),
    );
    expect(pair.proxy.sent.includes('gradient')).toBe(false);
    // Of the same bytes sent again, no record is the same.
    const before = pair.proxy.sent.length;
    await Promise.all([b.send(0, header, data), a.receive(1, header, into)]);
    const again = pair.proxy.sent.subarray(before);
    expect(pair.proxy.sent.subarray(0, before).includes(again.subarray(48, 80))).toBe(
      false,
    );
    for (const { counters, socketBytes } of [a, b]) {
      expect(socketBytes).toEqual({ sent: counters.sent, received: counters.received });
    }
    expect(b.counters.framingSent).toBe(DIALER_BYTES + 2 * sealedFraming(data.length));
  });

  test('in the clear it does show', async () => {
    await using pair = await pairOf(kind, (sent) => sent, false);
    const [a, b] = pair.ranks;
    await Promise.all([
      b.send(0, header, data),
      a.receive(1, header, Buffer.alloc(data.length)),
    ]);
    expect(pair.proxy.sent.includes('gradient')).toBe(true);
  });

  test('a changed bit at any position is detected before use, and reported', async () => {
    const random = generator(3);
    const whole = data.length + sealedFraming(data.length);
    // Of the header, of its length, its tag, the first chunk, its tag, the last tag.
    const places = [0, 24, 30, 40, 48, 48 + 65_536 + 3, whole - 1];
    for (let more = 0; more < 8; more++) places.push(Math.floor(whole * random()));
    for (const place of places) {
      const flip: Meddle = (sent) => {
        const changed = Buffer.from(sent);
        if (place < changed.length) changed[place]! ^= 1 << (place % 8);
        return changed;
      };
      await using pair = await pairOf(kind, flip);
      const { codes, into } = await outcomes(pair, data);
      expect(codes).toEqual(['PEER_TAMPERED', 'PEER_TAMPERED']);
      // What arrived until then is what was sent.
      const arrived = into.findLastIndex((byte) => byte !== 0) + 1;
      expect(data.subarray(0, arrived).equals(into.subarray(0, arrived))).toBe(true);
    }
  });

  test.each<[string, Meddle]>([
    ['left out', (sent) => sent.subarray(72)],
    ['repeated', (sent) => Buffer.concat([sent.subarray(0, 72), sent])],
    ['put in', (sent) => Buffer.concat([Buffer.alloc(72, 9), sent])],
    [
      'exchanged',
      (sent) =>
        sent.length < 144
          ? Buffer.alloc(0)
          : Buffer.concat([sent.subarray(72, 144), sent.subarray(0, 72)]),
    ],
  ])('a message that is %s is found', async (_, meddle) => {
    await using pair = await pairOf(kind, meddle);
    const [a, b] = pair.ranks;
    const waiting = [
      a.receive(1, header, Buffer.alloc(8)),
      a.receive(1, header, Buffer.alloc(8)),
      a.receive(1, header, Buffer.alloc(8)),
    ];
    await b.send(0, header, Buffer.alloc(8, 1));
    await b.send(0, header, Buffer.alloc(8, 2));
    const results = await Promise.allSettled(waiting);
    expect(results.at(-1)).toMatchObject({
      status: 'rejected',
      reason: { code: 'PEER_TAMPERED', rank: 1 },
    });
  });

  test('collectives over it are exact, and their bytes accounted for', async () => {
    await using world = await makeWorld(3, { transport: kind, encrypt: true });
    const length = 200_003;
    const inputs = [0, 1, 2].map((rank) => integers(rank, length));
    const results = await runCollective(ring, world.communicators(), 'dense', inputs);
    const expected = sumOf(inputs);
    for (const { sum } of results) expect(firstDifference(sum, expected)).toBe(-1);
    for (const [rank, { counters, socketBytes }] of world.transports.entries()) {
      expect(socketBytes).toEqual({ sent: counters.sent, received: counters.received });
      expect(counters.sent - counters.framingSent).toBe(results[rank]!.sentBytes);
    }
  });

  test('large messages go both ways at once, and are sealed only as they leave', async () => {
    const limits = { pauseBytes: 0, failBytes: 2 ** 30 };
    await using world = await makeWorld(2, { transport: kind, encrypt: true, limits });
    const [a, b] = world.transports;
    const bytes = 24 * 2 ** 20;
    const sent = [1, 2].map((value) => new Uint8Array(bytes).fill(value));
    const into = [1, 2].map(() => new Uint8Array(bytes));
    const before = await liveMemory();
    const sends = [a!.send(1, header, sent[0]!), b!.send(0, header, sent[1]!)];
    // Nobody asks for them: they stay where they are.
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect((await liveMemory()) - before).toBeLessThan(bytes / 2);
    const receives = [a!.receive(1, header, into[0]!), b!.receive(0, header, into[1]!)];
    await Promise.all([...sends, ...receives]);
    expect(isFilledWith(2, into[0]!)).toBe(true);
    expect(isFilledWith(1, into[1]!)).toBe(true);
  });
});

test('a rank that does not encrypt is no rank of a run that does', async () => {
  const listeners = await Promise.all([listenTcp(HOST), listenTcp(HOST)]);
  const run = {
    addresses: listeners.map(({ address }) => address),
    runId: 'run',
    secret: randomBytes(32),
    timeoutMs: 2000,
  };
  const joined = await Promise.allSettled([
    connectMesh({ ...run, listener: listeners[0]!, rank: 0, encrypt: true }),
    connectMesh({ ...run, listener: listeners[1]!, rank: 1 }),
  ]);
  expect(joined).toMatchObject([
    { reason: { code: 'PEER_TIMEOUT', rank: 1 } },
    { reason: { code: 'PEER_UNAUTHENTICATED', rank: 0 } },
  ]);
});
