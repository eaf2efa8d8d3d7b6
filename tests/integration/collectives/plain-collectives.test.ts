/** Allgather, reduce-scatter and barrier by themselves, for any P. */
import { describe, expect, test } from 'vitest';
import { allgather } from '../../../src/agent/collectives/allgather.ts';
import { barrier } from '../../../src/agent/collectives/barrier.ts';
import { partRange } from '../../../src/agent/collectives/partition.ts';
import { reduceScatter } from '../../../src/agent/collectives/reduce-scatter.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import type { ReduceOperation } from '../../../src/agent/kernels/reduction.ts';
import { delayed } from './delayed-transport.ts';
import {
  floats,
  generator,
  integers,
  put,
  sumOf,
  type Values,
} from './run-collective.ts';
import { blocksSent } from './stream-oracle.ts';
import { closesSockets } from './open-sockets.ts';
import { makeWorld } from './world.ts';

const RANKS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

closesSockets();

const begin = (communicator: TransportCommunicator, operation: number) =>
  communicator.begin({ epoch: 0, operation, dtype: 1 });

test.each(RANKS)(
  'P = %d: allgather brings every block where it belongs',
  async (ranks) => {
    await using world = await makeWorld(ranks);
    // Rank 0 has nothing, and no two have the same.
    const sizes = world.transports.map((_, rank) => 3 * rank);
    await Promise.all(
      world.communicators().map(async (communicator, rank) => {
        const { arena } = communicator;
        const into = communicator.scratch('test', 3 * ranks * ranks);
        const startOf = (index: number): number =>
          into.offset + sizes.slice(0, index).reduce((sum, bytes) => sum + bytes, 0);
        arena.u8(startOf(rank), sizes[rank]!).fill(rank + 1);
        await allgather.run(begin(communicator, allgather.code), into, sizes);
        for (const [index, bytes] of sizes.entries()) {
          const block = arena.u8(startOf(index), bytes);
          expect(block.every((byte) => byte === index + 1)).toBe(true);
        }
        expect(communicator.sentBytes).toBe(blocksSent(rank, sizes));
        expect(communicator.sentMessages).toBeLessThanOrEqual(
          2 * Math.ceil(Math.log2(ranks)),
        );
      }),
    );
  },
);

test('allgather refuses blocks that are not those of the ranks', async () => {
  await using world = await makeWorld(2);
  const [communicator] = world.communicators();
  const into = communicator!.scratch('test', 16);
  for (const sizes of [[8], [8, 9], [4, 4, 4]]) {
    await expect(
      allgather.run(begin(communicator!, allgather.code), into, sizes),
    ).rejects.toThrow('internal:');
  }
});

async function scattered(
  communicator: TransportCommunicator,
  input: Values,
): Promise<readonly number[]> {
  const { arena, valueBytes } = communicator;
  const data = arena.allocate(input.byteLength);
  put(arena, data.offset, input);
  const vector = { offset: data.offset, length: input.length };
  const own = await reduceScatter.run(begin(communicator, reduceScatter.code), vector);
  const { start, length } = partRange(
    input.length,
    communicator.size,
    communicator.rank,
  );
  expect(own).toEqual({ offset: data.offset + valueBytes * start, length });
  const part = [...(valueBytes === 4 ? arena.f32(own) : arena.f64(own))];
  arena.release(data);
  return part;
}

describe.each(RANKS)('P = %d', (ranks) => {
  test('reduce-scatter leaves every rank its part, for any N', async () => {
    await using world = await makeWorld(ranks);
    const communicators = world.communicators();
    // Fewer elements than ranks, as many, and no multiple of them.
    for (const length of [0, 1, ranks - 1, ranks, ranks + 1, 1009]) {
      const inputs = communicators.map((_, rank) => integers(rank, length));
      const sum = sumOf(inputs);
      const parts = await Promise.all(
        communicators.map((communicator, rank) =>
          scattered(communicator, inputs[rank]!),
        ),
      );
      expect(parts.flat()).toEqual([...sum]);
      for (const [rank, { sentBytes }] of communicators.entries()) {
        expect(sentBytes).toBe(4 * (length - partRange(length, ranks, rank).length));
      }
    }
  });

  test('no rank leaves a barrier before all have come', async () => {
    const random = generator(ranks);
    await using world = await makeWorld(ranks, {
      wrap: (transport) => delayed(transport, random),
    });
    const communicators = world.communicators();
    for (let round = 1; round <= 5; round++) {
      const came = new Set<number>();
      await Promise.all(
        communicators.map(async (communicator, rank) => {
          for (let turn = Math.floor(20 * random()); turn > 0; turn--) {
            await new Promise(setImmediate);
          }
          came.add(rank);
          await barrier.run(begin(communicator, barrier.code));
          expect(came.size).toBe(ranks);
          expect(communicator.sentMessages).toBe(Math.ceil(Math.log2(ranks)));
          expect(communicator.sentBytes).toBe(0);
        }),
      );
    }
  });
});

test.each([
  ['min', Math.min],
  ['max', Math.max],
  ['prod', (x: number, y: number) => x * y],
] as readonly (readonly [ReduceOperation, (x: number, y: number) => number])[])(
  'reduce-scatter by %s, of f64',
  async (operation, apply) => {
    await using world = await makeWorld(3);
    const inputs = world.transports.map((_, rank) =>
      integers(rank, 100).map((value) => (value === 0 ? 1 : value)),
    );
    const doubles = inputs.map((input) => Float64Array.from(input, (x) => x * 2 ** 30));
    const parts = await Promise.all(
      world
        .communicators(operation, 'f64')
        .map((communicator, rank) => scattered(communicator, doubles[rank]!)),
    );
    const expected = Array.from(doubles[0]!, (_, index) =>
      doubles.map((values) => values[index]!).reduce((x, y) => apply(x, y)),
    );
    expect(parts.flat()).toEqual(expected);
  },
);

test('reduce-scatter sums in rank order for any owner of a part', async () => {
  await using world = await makeWorld(5);
  const inputs = world.transports.map((_, rank) => floats(rank, 505));
  const parts = await Promise.all(
    world
      .communicators()
      .map((communicator, rank) => scattered(communicator, inputs[rank]!)),
  );
  const expected = Array.from(inputs[0]!, (_, index) =>
    inputs.map((input) => input[index]!).reduce((x, y) => Math.fround(x + y)),
  );
  expect(parts.flat()).toEqual(expected);
});
