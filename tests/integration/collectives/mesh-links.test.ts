/** Links that never come to be: what was begun for them ends with the attempt. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { loadLibc } from '../../../src/agent/transport/libc.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';
import { linkMesh } from '../../../src/agent/transport/mesh-links.ts';
import { listenTcp } from '../../../src/agent/transport/tcp-listener.ts';

/** Enough to fill a backlog of 1, whatever the system adds to it. */
const FILLERS = 4;

const connecting = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

test('a peer that does not answer leaves no connection behind that waits for it', async () => {
  const held = new Int32Array(new SharedArrayBuffer(4));
  const deaf = new Worker(new URL('deaf-listener.ts', import.meta.url), {
    workerData: held.buffer,
  });
  const fillers: Socket[] = [];
  try {
    const [port] = (await once(deaf, 'message')) as [number];
    for (let i = 0; i < FILLERS; i++) {
      fillers.push(connect({ host: '127.0.0.1', port }).on('error', () => undefined));
    }
    await once(fillers[0]!, 'connect');
    const before = connecting();
    const listener = await listenTcp('127.0.0.1');
    const linking = linkMesh({
      listener,
      rank: 1,
      addresses: [{ host: '127.0.0.1', port }, listener.address],
      runId: 'test',
      secret: randomBytes(32),
      timeoutMs: 300,
    });
    await expect(linking).rejects.toMatchObject({ code: 'PEER_TIMEOUT', rank: 0 });
    await expect.poll(connecting).toBe(before);
  } finally {
    for (const filler of fillers) filler.destroy();
    Atomics.store(held, 0, 1);
    Atomics.notify(held, 0);
    await deaf.terminate();
  }
});

test('a rank that cannot take its links over closes all of them', async () => {
  const libc = await loadLibc();
  let taken = 0;
  const exhausted = {
    ...libc,
    duplicate: (descriptor: number) => (++taken > 1 ? -1 : libc.duplicate(descriptor)),
  };
  const listeners = await Promise.all([0, 1, 2].map(() => listenTcp('127.0.0.1')));
  const secret = randomBytes(32);
  const [first, second, third] = await Promise.allSettled(
    listeners.map((listener, rank) =>
      connectMesh({
        listener,
        rank,
        addresses: listeners.map(({ address }) => address),
        runId: 'test',
        secret,
        timeoutMs: 60_000,
        libc: rank === 2 ? exhausted : undefined,
      }),
    ),
  );
  expect(third).toMatchObject({ reason: { code: 'NATIVE_UNAVAILABLE' } });
  for (const others of [first, second]) {
    if (others?.status !== 'fulfilled') throw new Error('two ranks stand');
    const header = { stream: 1, sequence: 0, epoch: 0, operation: 0, dtype: 0 };
    const lost = others.value.receive(2, header, new Uint8Array(1));
    await expect(lost).rejects.toMatchObject({ code: 'PEER_LOST', rank: 2 });
    await others.value.close();
  }
});
