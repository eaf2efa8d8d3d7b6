/** Who may take part in a run, and what those who may not can do to it: nothing. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectSocket, createServer, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from 'vitest';
import { connectMesh, type MeshOptions } from '../../../src/agent/transport/mesh.ts';
import {
  encodeAnswer,
  encodeHello,
} from '../../../src/agent/transport/handshake-proof.ts';
import {
  listenTcp,
  type TcpListener,
} from '../../../src/agent/transport/tcp-listener.ts';
import type { MeshTransport } from '../../../src/agent/transport/mesh-transport.ts';
import { effort, seed } from '../../harness/effort.ts';
import { liveMemory } from '../../harness/live-memory.ts';
import { generator } from './run-collective.ts';
import { closesSockets } from './open-sockets.ts';
import { HOST, meshOf, TRANSPORT_KINDS } from './world.ts';

const SECRET = randomBytes(32);
const header = { stream: 1, sequence: 0, epoch: 0, operation: 1, dtype: 1 };

closesSockets();

describe.each(TRANSPORT_KINDS)('%s:', (transport) => {
  type Options = Partial<Omit<MeshOptions, 'listener' | 'rank' | 'addresses'>>;

  let mesh: Awaited<ReturnType<typeof meshOf>>;
  beforeAll(async () => {
    mesh = await meshOf(transport);
  });

  function join(
    listeners: readonly TcpListener[],
    rank: number,
    options: Options = {},
  ): Promise<MeshTransport> {
    return connectMesh({
      ...mesh,
      listener: listeners[rank]!,
      rank,
      addresses: listeners.map(({ address }) => address),
      runId: 'run',
      secret: SECRET,
      timeoutMs: 60_000,
      ...options,
    });
  }

  const listenAll = (ranks: number): Promise<TcpListener[]> =>
    Promise.all(Array.from({ length: ranks }, () => listenTcp(HOST)));

  /** The run is well: a message goes each way. Then all is closed. */
  async function expectWell(transports: readonly MeshTransport[]): Promise<void> {
    const [a, b] = transports;
    const into = [Buffer.alloc(3), Buffer.alloc(3)] as const;
    await Promise.all([
      a!.send(b!.rank, header, Buffer.from('abc')),
      b!.send(a!.rank, header, Buffer.from('xyz')),
      a!.receive(b!.rank, header, into[0]),
      b!.receive(a!.rank, header, into[1]),
    ]);
    expect(into.map(String)).toEqual(['xyz', 'abc']);
    await Promise.all(transports.map((transport) => transport.close()));
  }

  /** Through either of its doors. */
  async function open(listener: TcpListener, local = false): Promise<Socket> {
    const { host, port, local: path } = listener.address;
    const socket = connectSocket(
      local && path !== undefined ? { path } : { host, port },
    );
    socket.on('error', () => socket.destroy());
    await once(socket, 'connect');
    return socket;
  }

  /** Ends when the other side has dropped the socket; what it said until then. */
  async function dropped(socket: Socket): Promise<Buffer> {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    if (!socket.closed) await once(socket, 'close');
    return Buffer.concat(chunks);
  }

  test('ranks may come in any order, before and after one another', async () => {
    const listeners = await listenAll(3);
    const last = join(listeners, 2);
    await new Promise(setImmediate);
    const first = join(listeners, 0);
    const transports = await Promise.all([first, join(listeners, 1), last]);
    await expectWell(transports);
  });

  test.each<[string, Options]>([
    ['another secret', { secret: randomBytes(32) }],
    ['another run', { runId: 'other run' }],
  ])('a rank with %s is refused, by name, and the run waits on', async (_, options) => {
    const listeners = await listenAll(2);
    const good = join(listeners, 0);
    const impostor = connectMesh({
      listener: await listenTcp(HOST),
      rank: 1,
      addresses: listeners.map(({ address }) => address),
      runId: 'run',
      secret: SECRET,
      timeoutMs: 60_000,
      ...options,
    });
    await expect(impostor).rejects.toMatchObject({
      code: 'PEER_UNAUTHENTICATED',
      rank: 0,
    });
    await expectWell(await Promise.all([good, join(listeners, 1)]));
  });

  test('a rank that dials an impostor refuses to talk to it', async () => {
    const sockets: Socket[] = [];
    const impostor = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => socket.destroy());
      // A challenge of the right size and prefix, with a proof that is none.
      socket.once('data', () => {
        const challenge = Buffer.alloc(72, 1);
        challenge.set([0x47, 0x57, 0x57, 0x48, 1, 2, 0, 0]);
        socket.write(challenge);
      });
    }).listen(0, HOST);
    await once(impostor, 'listening');
    const { port } = impostor.address() as { port: number };
    const listener = await listenTcp(HOST);
    const joining = connectMesh({
      listener,
      rank: 1,
      addresses: [{ host: HOST, port }, listener.address],
      runId: 'run',
      secret: SECRET,
      timeoutMs: 60_000,
    });
    await expect(joining).rejects.toMatchObject({
      code: 'PEER_UNAUTHENTICATED',
      message: expect.stringMatching(/^rank 0 did not prove .* secret/) as string,
    });
    for (const socket of sockets) socket.destroy();
    impostor.close();
  });

  test('a silent client is dropped after the limit without effect on others', async () => {
    const listeners = await listenAll(2);
    const silent = await open(listeners[0]!);
    const good = join(listeners, 0, { handshakeLimitMs: 100 });
    expect(await dropped(silent)).toHaveLength(0);
    await expectWell(await Promise.all([good, join(listeners, 1)]));
  });

  test('silent clients are dropped when the run begins without them', async () => {
    const listeners = await listenAll(2);
    const silent = [await open(listeners[0]!), await open(listeners[1]!)];
    const patient = { handshakeLimitMs: 60_000 };
    const transports = await Promise.all([
      join(listeners, 0, patient),
      join(listeners, 1, patient),
    ]);
    await Promise.all(silent.map(dropped));
    await expectWell(transports);
  });

  test('who knows how to begin but not the secret learns only a nonce and a proof', async () => {
    const listeners = await listenAll(2);
    const good = join(listeners, 0);
    const client = await open(listeners[0]!);
    client.write(encodeHello(1, 0, randomBytes(32)));
    client.write(encodeAnswer(randomBytes(32)));
    expect(await dropped(client)).toHaveLength(72);
    await expectWell(await Promise.all([good, join(listeners, 1)]));
  });

  test('a second rank 1 does not replace the first', async () => {
    const listeners = await listenAll(3);
    const first = join(listeners, 0);
    const second = join(listeners, 1);
    const twin = connectMesh({
      ...mesh,
      listener: await listenTcp(HOST),
      rank: 1,
      addresses: listeners.map(({ address }) => address),
      runId: 'run',
      secret: SECRET,
      timeoutMs: 60_000,
    });
    const outcome = await Promise.race([
      twin.then(
        () => 'joined',
        () => 'refused',
      ),
      // Whichever came second is refused; let the world complete if it was not the twin.
      second.then(
        () => 'joined',
        () => 'refused',
      ),
    ]);
    expect(outcome).toBe('refused');
    const third = join(listeners, 2);
    const joined = await Promise.allSettled([first, second, twin, third]);
    for (const result of joined) {
      if (result.status === 'fulfilled') await result.value.close();
    }
    expect(joined[0].status).toBe('fulfilled');
  });

  test('random beginnings at its doors: the run does not notice, nor grow', async () => {
    const batches = effort({ quick: 20, soak: 1000 });
    const listeners = await listenAll(2);
    const good = join(listeners, 0);
    const random = generator(seed);
    const hello = encodeHello(1, 0, randomBytes(32));
    let before = 0;
    for (let batch = 0; batch < batches; batch++) {
      // Of the first tenth, what grows once is no growth.
      if (batch === batches / 10) before = await liveMemory();
      const clients = await Promise.all(
        Array.from({ length: 100 }, (_, index) => open(listeners[0]!, index % 4 === 0)),
      );
      await Promise.all(
        clients.map(async (client) => {
          const noise = randomBytes(1 + Math.floor(300 * random()));
          const kind = random();
          // Noise; noise behind a true hello; a hello with one byte changed; half a hello.
          if (kind < 0.4) client.end(noise);
          else if (kind < 0.6) client.end(Buffer.concat([hello, noise]));
          else if (kind < 0.8) {
            const changed = Buffer.from(hello);
            changed[Math.floor(16 * random())]! ^= 1 + Math.floor(254 * random());
            client.end(changed);
          } else client.end(hello.subarray(0, Math.floor(48 * random())));
          await dropped(client);
        }),
      );
    }
    expect((await liveMemory()) - before).toBeLessThan(2 ** 20);
    await expectWell(await Promise.all([good, join(listeners, 1)]));
  });

  test('a rank that cannot be reached is named with its address', async () => {
    const listeners = await listenAll(2);
    const { port } = listeners[0]!.address;
    listeners[0]!.close();
    await expect(join(listeners, 1)).rejects.toMatchObject({
      code: 'PEER_UNREACHABLE',
      rank: 0,
      message: `rank 0 cannot be reached at ${HOST}:${port} (ECONNREFUSED)`,
    });
  });

  test('a rank that does not come is named, with who came in its place', async () => {
    const listeners = await listenAll(2);
    const client = await open(listeners[0]!);
    client.end(randomBytes(48));
    await expect(join(listeners, 0, { timeoutMs: 1500 })).rejects.toMatchObject({
      code: 'PEER_TIMEOUT',
      rank: 1,
      message:
        'rank 1 did not connect within 1.5 s; refused connections: 1; the last one did not come from a rank',
    });
    listeners[1]!.close();
  });

  test('where one rank does not come, the others leave nothing open', async () => {
    const listeners = await listenAll(3);
    const joined = await Promise.allSettled(
      [0, 1].map((rank) => join(listeners, rank, { timeoutMs: 1500 })),
    );
    for (const result of joined) {
      expect(result).toMatchObject({ reason: { code: 'PEER_TIMEOUT', rank: 2 } });
    }
    listeners[2]!.close();
  });

  test('an address that is not ours cannot be listened on', async () => {
    await expect(listenTcp('203.0.113.1')).rejects.toMatchObject({
      code: 'LISTEN_FAILED',
    });
  });
});

test.skipIf(process.platform !== 'linux')(
  'strangers by the thousand, before a rank knows its run, keep no rank out',
  async () => {
    const mesh = await meshOf('tcp');
    const listeners = await Promise.all([0, 1, 2].map(() => listenTcp(HOST)));
    const { port } = listeners[0]!.address;
    const join = (rank: number): Promise<MeshTransport> =>
      connectMesh({
        ...mesh,
        listener: listeners[rank]!,
        rank,
        runId: 'run',
        secret: SECRET,
        ...{ addresses: listeners.map(({ address }) => address), timeoutMs: 60_000 },
      });
    const strangers: Socket[] = [];
    const flood = async (from: string, number: number): Promise<void> => {
      for (let left = number; left > 0; left--) {
        const to = { host: HOST, port, localAddress: from };
        const socket = connectSocket(to).on('error', () => socket.destroy());
        strangers.push(socket);
        await once(socket, 'connect');
      }
    };
    // One rank calls first, one last, both from an address that strangers have as well.
    await flood('127.0.0.2', 200);
    const first = join(1);
    await new Promise(setImmediate);
    await flood('127.0.0.2', 1400);
    await flood(HOST, 700);
    const last = join(2);
    const transports = await Promise.all([join(0), first, last]);
    expect(transports.map(({ size }) => size)).toEqual([3, 3, 3]);
    for (const socket of strangers) socket.destroy();
    await Promise.all(transports.map((transport) => transport.close()));
  },
);
