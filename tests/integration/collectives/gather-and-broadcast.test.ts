import { expect, test } from 'vitest';
import { broadcast } from '../../../src/agent/collectives/broadcast.ts';
import { gather } from '../../../src/agent/collectives/gather.ts';
import { smallAllreduce } from '../../../src/agent/collectives/small-allreduce.ts';
import type { Payload } from '../../../src/agent/memory/payload.ts';
import { closesSockets } from './open-sockets.ts';
import { makeWorld } from './world.ts';

const RANKS = [1, 2, 3, 4, 5, 7, 8, 9];

closesSockets();

test.each(RANKS)('P = %d: gather brings payloads of any length', async (ranks) => {
  await using world = await makeWorld(ranks);
  // Rank 0 has nothing to say: an empty payload must not hang.
  const contents = world.transports.map((_, rank) => Buffer.alloc(3000 * rank, rank));
  const results = await Promise.all(
    world.communicators().map(async (communicator, rank) => {
      const { arena } = communicator;
      const bytes = contents[rank]!.length;
      const data = { ...arena.allocate(bytes), bytes };
      arena.u8(data.offset, bytes).set(contents[rank]!);
      communicator.begin({ epoch: 0, operation: gather.code, dtype: 3 });
      const payload: Payload = { kind: 'quantized', length: 100_000, data };
      const combined = await gather.run(communicator, payload);
      arena.release(data);
      if (combined.form !== 'gathered') throw new Error('gather gathers');
      return combined.payloads.map(({ kind, data: { offset, bytes: size } }) => {
        expect(kind).toBe('quantized');
        return Buffer.from(arena.u8(offset, size));
      });
    }),
  );
  for (const result of results) {
    expect(result.length).toBe(ranks);
    expect(result.every((bytes, rank) => bytes.equals(contents[rank]!))).toBe(true);
  }
});

test('gather refuses a sparse payload that points outside the vector', async () => {
  await using world = await makeWorld(2);
  const run = world.communicators().map((communicator, rank) => {
    const { arena } = communicator;
    const data = { ...arena.allocate(8), bytes: 8 };
    arena.u32(data.offset, 1).set([rank === 1 ? 10 : 9]);
    communicator.begin({ epoch: 0, operation: gather.code, dtype: 2 });
    return gather.run(communicator, { kind: 'sparse', length: 10, count: 1, data });
  });
  const [first, second] = await Promise.allSettled(run);
  expect(first).toMatchObject({
    status: 'rejected',
    reason: { code: 'PAYLOAD_INVALID', rank: 1 },
  });
  expect(second).toMatchObject({ status: 'fulfilled' });
});

test.each(RANKS)('P = %d: broadcast from every root', async (ranks) => {
  await using world = await makeWorld(ranks);
  const communicators = world.communicators();
  for (let root = 0; root < ranks; root++) {
    const counts = await Promise.all(
      communicators.map(async (communicator, rank) => {
        const { arena } = communicator;
        const capacity = arena.allocate(8 * 50);
        if (rank === root) {
          arena.u32(capacity.offset, 3).set([root, root + 10, 40]);
          arena.f32({ offset: capacity.offset + 12, length: 3 }).set([1, 2, -root]);
        }
        const payload: Payload = {
          kind: 'sparse',
          length: 50,
          count: rank === root ? 3 : 0,
          data: capacity,
        };
        communicator.begin({ epoch: 0, operation: broadcast.code, dtype: 2 });
        const combined = await broadcast.run(communicator, payload, root);
        if (combined.form !== 'gathered') throw new Error('broadcast gathers one');
        const [only] = combined.payloads;
        if (only?.kind !== 'sparse') throw new Error('sparse stays sparse');
        expect(only.count).toBe(3);
        expect([...arena.u32(only.data.offset, 3)]).toEqual([root, root + 10, 40]);
        expect([...arena.f32({ offset: only.data.offset + 12, length: 3 })]).toEqual([
          1,
          2,
          -root,
        ]);
        arena.release(capacity);
        return communicator.sentMessages;
      }),
    );
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(ranks - 1);
    expect(counts[root]).toBe(Math.ceil(Math.log2(ranks)));
  }
});

test.each(RANKS)('P = %d: minimum, maximum and sum of small numbers', async (ranks) => {
  await using world = await makeWorld(ranks);
  const results = await Promise.all(
    world
      .communicators()
      .map((communicator, rank) =>
        smallAllreduce(
          communicator.begin({ epoch: 0, operation: 0, dtype: 0 }),
          [rank + 5, rank - 5, 2 ** 40 + rank, 0.1 * rank],
          ['min', 'max', 'sum', 'sum'],
        ),
      ),
  );
  const all = (ranks * (ranks - 1)) / 2;
  for (const [min, max, sum] of results) {
    expect([min, max, sum]).toEqual([5, ranks - 6, ranks * 2 ** 40 + all]);
  }
  // A sum that rounds: still the same bits everywhere.
  expect(new Set(results.map(([, , , rounded]) => rounded)).size).toBe(1);
});
