/** What the native transport must do beside what all transports do. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';
import type { MessageHeader } from '../../../src/agent/transport/transport.ts';
import type { RankAddress } from '../../../src/shared/protocol/supervisor.ts';
import { delayed } from './delayed-transport.ts';
import {
  SENDER_BYTES,
  SENDER_HEADER,
  SENDER_RUN,
  type SenderOrder,
} from './endless-sender-order.ts';
import { generator, isFilledWith } from './run-collective.ts';
import { closesSockets, openSockets } from './open-sockets.ts';
import {
  HOST,
  makeWorld,
  meshOf,
  TRANSPORT_KINDS,
  type TransportKind,
} from './world.ts';

const header: MessageHeader = {
  stream: 1,
  sequence: 0,
  epoch: 0,
  operation: 1,
  dtype: 1,
};

closesSockets();

type Kinds = TransportKind | ((rank: number) => TransportKind);
const mixed: Kinds = (rank) => (rank === 1 ? 'tcp' : 'native');

/** Bytes that a message of this number has, and no other. */
function body(bytes: number, number: number): Uint8Array {
  const random = generator(number);
  const data = new Uint8Array(bytes);
  for (let index = 0; index < bytes; index++) data[index] = 256 * random();
  return data;
}

/** Messages of all sizes among three ranks on several streams; what was counted. */
async function exchange(transport: Kinds, messages: number): Promise<object[]> {
  const random = generator(17);
  const below = (limit: number): number => Math.floor(limit * random());
  const delays = generator(18);
  await using world = await makeWorld(3, { transport });
  const ranks = world.transports.map((one) => delayed(one, delays));
  const pending: Promise<void>[] = [];
  for (let number = 0; number < messages; number++) {
    const from = below(3);
    const to = (from + 1 + below(2)) % 3;
    const stream = below(4);
    const bytes = [0, 8, 100 + below(4000), 8000 + below(400), below(300_000)][
      below(5)
    ]!;
    const data = body(bytes, number);
    const one = { ...header, stream };
    const sized = below(2) === 1;
    let into = new Uint8Array(sized ? 0 : bytes);
    const receive = async (): Promise<void> => {
      const receiver = ranks[to]!;
      if (!sized) await receiver.receive(from, one, into);
      else {
        await receiver.receiveSized(from, one, 300_000, (length) => {
          return (into = new Uint8Array(length));
        });
      }
      expect(Buffer.compare(into, data)).toBe(0);
    };
    const late = below(3) === 0;
    if (!late) pending.push(receive());
    pending.push(ranks[from]!.send(to, one, data));
    if (late) pending.push(receive());
    if (below(10) === 0) await Promise.all(pending.splice(0));
  }
  await Promise.all(pending);
  // What must be empty afterwards sees them all.
  expect(openSockets().length).toBeGreaterThanOrEqual(3);
  for (const { counters, socketBytes } of world.transports) {
    expect(socketBytes).toEqual({ sent: counters.sent, received: counters.received });
  }
  return world.transports.map(({ counters }) => counters);
}

test('200 random messages with delays arrive whole, and count the same on any mix', async () => {
  const counted = await exchange('tcp', 200);
  expect(await exchange('native', 200)).toEqual(counted);
  expect(await exchange(mixed, 200)).toEqual(counted);
});

test.each<[string, Kinds]>([
  ['native', 'native'],
  ['native and tcp', mixed],
])(
  '%s: large messages both ways at once do not wait for one another',
  async (_, transport) => {
    await using world = await makeWorld(2, { transport });
    const [a, b] = world.transports;
    const bytes = 48 * 2 ** 20;
    const data = [1, 2].map((value) =>
      new Uint8Array(new SharedArrayBuffer(bytes)).fill(value),
    );
    const into = [1, 2].map(() => new Uint8Array(new SharedArrayBuffer(bytes)));
    const sends = [a!.send(1, header, data[0]!), b!.send(0, header, data[1]!)];
    await new Promise(setImmediate);
    const receives = [a!.receive(1, header, into[0]!), b!.receive(0, header, into[1]!)];
    await Promise.all([...sends, ...receives]);
    expect(isFilledWith(2, into[0]!)).toBe(true);
    expect(isFilledWith(1, into[1]!)).toBe(true);
  },
);

test('messages without end leave timers their turn', async () => {
  await using world = await makeWorld(2, { transport: 'native', spinMs: 0.05 });
  const [a, b] = world.transports;
  let fired = 0;
  const timer = setInterval(() => fired++, 1);
  let rounds = 0;
  while (fired < 10 && rounds < 50_000) {
    const into = [Buffer.alloc(8), Buffer.alloc(8)] as const;
    await Promise.all([
      a!.send(1, header, Buffer.alloc(8)),
      b!.send(0, header, Buffer.alloc(8)),
      a!.receive(1, header, into[0]),
      b!.receive(0, header, into[1]),
    ]);
    rounds++;
  }
  clearInterval(timer);
  expect(fired).toBe(10);
});

describe.each(TRANSPORT_KINDS)('%s:', (transport) => {
  test('a thread that is ended in mid-transfer leaves no socket, and is named', async () => {
    const worker = new Worker(new URL('endless-sender.ts', import.meta.url));
    const [address] = (await once(worker, 'message')) as [RankAddress];
    const listener = await listenTcp(HOST);
    const addresses = [listener.address, address];
    worker.postMessage({ addresses, transport } satisfies SenderOrder);
    const one = await connectMesh({
      ...SENDER_RUN,
      ...(await meshOf(transport)),
      listener,
      rank: 0,
      addresses,
      timeoutMs: 10_000,
    });
    const into = new Uint8Array(SENDER_BYTES);
    for (let message = 0; message < 3; message++) {
      await one.receive(1, SENDER_HEADER, into);
    }
    await worker.terminate();
    const rest = async (): Promise<never> => {
      for (;;) await one.receive(1, SENDER_HEADER, into);
    };
    await expect(rest()).rejects.toMatchObject({ code: 'PEER_LOST', rank: 1 });
    await one.close();
  });
});

test('without koffi, auto is tcp and says why, and native is refused by name', async () => {
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => {
      if (name === 'koffi') throw new Error('no koffi here');
      return next(name, context);
    } });`;
  const file = new URL(
    '../../../src/agent/transport/transport-choice.ts',
    import.meta.url,
  );
  const script = `const { chooseTransport } = await import('${file.href}');
    const { kind, fallback } = await chooseTransport('auto');
    const code = await chooseTransport('native').catch((error) => error.code);
    console.log(JSON.stringify({ kind, fallback, code }));`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...['--import', `data:text/javascript,${encodeURIComponent(hook)}`],
    ...['--input-type=module', '--eval', script],
  ]);
  expect(JSON.parse(stdout)).toEqual({
    kind: 'tcp',
    fallback:
      'the native transport is not available: koffi cannot be loaded: no koffi here',
    code: 'NATIVE_UNAVAILABLE',
  });
});
