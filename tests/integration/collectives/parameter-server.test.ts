/**
 * What only servers can get wrong: who they are, sums in rank order whoever comes first,
 * more contributions than a server receives ahead, streams that become dense one after the
 * other. Everything else the tests of all collectives see to.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import type { TransportCommunicator } from '../../../src/agent/collectives/communicator.ts';
import { runs } from '../../harness/effort.ts';
import { delayed } from './delayed-transport.ts';
import { lying } from './lying-transport.ts';
import {
  firstDifference,
  floats,
  generator,
  integers,
  runCollective,
  runRank,
  sameBits,
  sumOf,
  type TriedCollective,
} from './run-collective.ts';
import { closeSharedWorlds, makeWorld, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

const definition = findCollective('parameter-server');
const withServers = (servers: number): TriedCollective => ({
  ...definition,
  servers: () => servers,
});
const KINDS = ['dense', 'sparse'] as const;

/** ((x₀ + x₁) + x₂) + …, each sum rounded to f32; zeros are no entries. */
function summedInOrder(inputs: readonly Float32Array[]): Float32Array {
  return Float32Array.from(inputs[0]!, (_, index) =>
    inputs
      .map((input) => input[index]!)
      .filter((value) => value !== 0)
      .reduce((sum, value) => Math.fround(sum + value), 0),
  );
}

test('ranks are summed in order, dense and sparse, in any order of arrival', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 1, max: 10 }),
      fc.integer({ min: 0, max: 3000 }),
      fc.constantFrom(...KINDS),
      fc.nat(),
      async (ranks, most, length, kind, seed) => {
        const random = generator(seed);
        await using world = await makeWorld(ranks, {
          wrap: (transport) => delayed(transport, random),
        });
        // Some ranks have nothing, some few entries, some are dense by themselves.
        const densities = [0, 0.01, 0.2, 0.7, 1];
        const inputs = world.transports.map((_, rank) =>
          floats(rank, length, densities[Math.floor(5 * random())]),
        );
        const outcomes = await runCollective(
          withServers(Math.min(most, ranks)),
          world.communicators(),
          kind,
          inputs,
        );
        const expected = summedInOrder(inputs);
        for (const { sum } of outcomes) {
          expect(firstDifference(sum, expected)).toBe(-1);
          expect(sameBits(sum, outcomes[0]!.sum)).toBe(true);
        }
      },
    ),
    { numRuns: runs(40) },
  );
});

test('a stream that becomes dense keeps its place while others arrive', async () => {
  // One server has at most four contributions at a time.
  const ranks = 9;
  for (const first of [0, 1, 4, 8]) {
    const random = generator(first);
    await using world = await makeWorld(ranks, {
      wrap: (transport) => delayed(transport, random),
    });
    const communicators = world.communicators();
    // Twice on the same stream: scratch of the first exchange is that of the second.
    for (const other of [first, (first + 3) % ranks]) {
      const inputs = communicators.map((_, rank) =>
        integers(rank, 2000, rank === other ? 1 : 0.02),
      );
      for (const servers of [1, 2]) {
        const outcomes = await runCollective(
          withServers(servers),
          communicators,
          'sparse',
          inputs,
        );
        for (const { sum, form } of outcomes) {
          expect(form).toBe('dense');
          expect(firstDifference(sum, sumOf(inputs))).toBe(-1);
        }
      }
    }
  }
});

describe('the load', () => {
  const length = 1200;
  const inputs = Array.from({ length: 6 }, (_, rank) => integers(rank, length));

  /** Of each rank, in sixths of the vector. */
  test.each([
    ['is that of one rank', 1, [0, 0, 0, 0, 0, 0], [30, 6, 6, 6, 6, 6]],
    ['is that of the first ranks', 2, [0, 0, 0, 0, 0, 0], [18, 18, 6, 6, 6, 6]],
    ['is spread over two nodes', 2, [0, 0, 0, 1, 1, 1], [18, 6, 6, 18, 6, 6]],
    ['is spread over three nodes', 3, [0, 0, 1, 1, 2, 2], [14, 6, 14, 6, 14, 6]],
    ['is everybody’s', 6, [0, 0, 0, 0, 0, 0], [10, 10, 10, 10, 10, 10]],
  ])('%s: S = %d, places %j', async (_, servers, places, expected) => {
    const world = await sharedWorld(places.length);
    const outcomes = await runCollective(
      withServers(servers),
      world.communicators('sum', 'f32', places),
      'dense',
      inputs,
    );
    const sent = outcomes.map(({ sentBytes }) => sentBytes);
    expect(sent).toEqual(expected.map((sixths) => (sixths * 4 * length) / 6));
    for (const { sum } of outcomes) expect(sum).toEqual(sumOf(inputs));
    const shape = { ranks: 6, places, length, payloadBytes: 4 * length, servers };
    expect(definition.wireBytes(shape)).toBe(Math.max(...sent));
  });
});

test('more servers than ranks are refused on every rank', async () => {
  const world = await sharedWorld(3);
  for (const kind of KINDS) {
    const inputs = [0, 1, 2].map((rank) => integers(rank, 10));
    const outcomes = world
      .communicators()
      .map((communicator) =>
        runRank(withServers(4), communicator, kind, inputs[communicator.rank]!),
      );
    for (const outcome of await Promise.allSettled(outcomes)) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: {
          code: 'SERVERS_INVALID',
          message: 'servers is 4, but only 3 ranks exchange',
        },
      });
    }
  }
});

describe.each(KINDS)('%s:', (kind) => {
  test.each([
    ['a server', 0],
    ['a server', 1],
    ['another rank', 3],
  ])('ends on all ranks when %s, rank %d, is lost', async (_, lost) => {
    await using world = await makeWorld(4);
    const inputs = world.transports.map((__, rank) => integers(rank, 300_000, 0.2));
    const run = (communicator: TransportCommunicator) =>
      runRank(withServers(2), communicator, kind, inputs[communicator.rank]!);
    const settled = Promise.allSettled(
      world
        .communicators()
        .filter(({ rank }) => rank !== lost)
        .map(run),
    );
    await world.transports[lost]!.close();
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'PEER_LOST', rank: lost },
      });
    }
  });
});

describe('what a peer cannot have', () => {
  const LENGTH = 1000;

  // Of two ranks and one server: rank 1 pushes, rank 0 sends the sum.
  test.each([
    ['a push', 1, 'indices out of order', 2, 500, /^rank 1 sent index/],
    [
      'a push',
      1,
      'an index beyond the range',
      2 + 19,
      LENGTH,
      /^rank 1 sent index 1000/,
    ],
    ['a push', 1, 'more entries than bytes', 1, 999, /^rank 1 sent a stream of 999/],
    ['a sum', 0, 'an unknown form', 0, 7, /^rank 0 sent a stream of 40/],
    [
      'a sum',
      0,
      'an index beyond the range',
      2 + 39,
      LENGTH,
      /^rank 0 sent index 1000/,
    ],
  ])('%s of rank %d with %s', async (_, liar, __, word, value, says) => {
    await using world = await makeWorld(2, {
      wrap: (transport) =>
        transport.rank === liar
          ? lying(transport, 0, (words) => {
              words[word] = value;
            })
          : transport,
    });
    // Twenty entries each, all different: forty in the sum.
    const inputs = [0, 1].map((rank) => {
      const input = new Float32Array(LENGTH);
      for (let entry = 0; entry < 20; entry++) input[10 * entry + rank] = 1;
      return input;
    });
    const [first, second] = world
      .communicators()
      .map((communicator) =>
        runRank(withServers(1), communicator, 'sparse', inputs[communicator.rank]!),
      );
    const [honest, other] = liar === 1 ? [first!, second!] : [second!, first!];
    const ended = Promise.allSettled([other]);
    await expect(honest).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      rank: liar,
      message: expect.stringMatching(says) as string,
    });
    await world[Symbol.asyncDispose]();
    await ended;
  });
});
