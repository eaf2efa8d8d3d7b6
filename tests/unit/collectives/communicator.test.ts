import { expect, test } from 'vitest';
import { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { Arena } from '../../../src/agent/memory/arena.ts';
import { referenceKernels } from '../../../src/agent/kernels/reference/reference-kernels.ts';
import { connectMesh } from '../../../src/agent/transport/mesh.ts';

async function alone(): Promise<{ arena: Arena; communicator: TransportCommunicator }> {
  const arena = new Arena();
  const transport = await connectMesh({
    rank: 0,
    addresses: [{ host: '127.0.0.1', port: 1 }],
    runId: 'alone',
    secret: new Uint8Array(32),
    timeoutMs: 1000,
  });
  const kernels = referenceKernels(arena);
  const options = { arena, kernels, transport, stream: 1 };
  return { arena, communicator: new TransportCommunicator(options) };
}

test('scratch stays where it is until more is needed, and then grows in place of it', async () => {
  const { arena, communicator } = await alone();
  const first = communicator.scratch('a', 1000);
  expect(communicator.scratch('a', 900)).toBe(first);
  const other = communicator.scratch('b', 1000);
  expect(other.offset).toBeGreaterThanOrEqual(first.offset + 1000);
  const grown = communicator.scratch('a', 2000);
  expect(grown.bytes).toBeGreaterThanOrEqual(2000);
  // What was outgrown is free again.
  expect(arena.allocate(1000).offset).toBe(first.offset);
});

test('disposing gives all scratch back', async () => {
  const { arena, communicator } = await alone();
  const { offset } = communicator.scratch('a', 1000);
  communicator.scratch('b', 3000);
  communicator[Symbol.dispose]();
  expect(arena.allocate(4000).offset).toBe(offset);
});

test('scratch of a collective goes when another one begins, and not before', async () => {
  const { arena, communicator } = await alone();
  const begin = (operation: number) =>
    communicator.begin({ epoch: 0, operation, dtype: 1 });
  const first = begin(5).scratch('a', 1000);
  // A gather between two of its exchanges has memory of its own.
  const gathered = begin(1001).scratch('a', 1000);
  expect(gathered.offset).not.toBe(first.offset);
  expect(begin(5).scratch('a', 1000)).toBe(first);
  begin(6);
  expect(arena.allocate(1000).offset).toBe(first.offset);
  expect(begin(1001).scratch('a', 1000)).toBe(gathered);
});

test('nothing is sent outside an exchange', async () => {
  const { communicator } = await alone();
  expect(() => communicator.send(1, { offset: 65_536, bytes: 8 })).toThrow(
    'internal: no exchange has begun',
  );
});

test('noise has a name of its own for every seed, stream, exchange and purpose', async () => {
  const { arena, communicator } = await alone();
  const transport = await connectMesh({
    rank: 0,
    addresses: [{ host: '127.0.0.1', port: 1 }],
    runId: 'alone',
    secret: new Uint8Array(32),
    timeoutMs: 1000,
  });
  const { kernels } = communicator;
  const all = [0, 1].flatMap((seed) =>
    [1, 2].map(
      (stream) =>
        new TransportCommunicator({ arena, kernels, transport, stream, seed }),
    ),
  );
  const names = all.flatMap((one) =>
    [1, 2].flatMap(() => {
      one.begin({ epoch: 0, operation: 9, dtype: 1 });
      return [0, 1, 16].map((purpose) => one.noise(purpose));
    }),
  );
  expect(new Set(names.map((name) => JSON.stringify(name))).size).toBe(2 * 2 * 2 * 3);
  // Methods name their noise by purposes above, training by those below.
  for (const { purpose, rank } of names) {
    expect(rank).toBe(0);
    expect(purpose).toBeGreaterThan(0x7fff);
    expect(purpose).toBeLessThan(1 << 16);
  }
  await transport.close();
});
