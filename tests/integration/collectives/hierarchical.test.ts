/**
 * What depends on the nodes on which ranks are: sums, the order of summation, what each rank
 * sends, and how much of it passes the links between nodes. Everything else the tests of all
 * collectives see to, where all ranks are on one node.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { hierarchicalBytesSent } from '../../../src/agent/collectives/hierarchical.ts';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import type { ReduceOperation } from '../../../src/agent/kernels/reduction.ts';
import type { Transport } from '../../../src/agent/transport/transport.ts';
import { effort } from '../../harness/effort.ts';
import { delayed } from './delayed-transport.ts';
import {
  hierarchicalSent,
  PLACES,
  randomPlaces,
  sparseHierarchicalSent,
} from './node-cases.ts';
import {
  firstDifference,
  floats,
  generator,
  integers,
  longIntegers,
  runCollective,
  runRank,
  sameBits,
  sumOf,
  type Values,
} from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, makeWorld, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

const CASES = [
  { id: 'hierarchical', kind: 'dense', sent: hierarchicalSent },
  { id: 'ssar-hierarchical', kind: 'sparse', sent: sparseHierarchicalSent },
] as const;
const DENSITIES = { dense: [1], sparse: [0, 0.02, 0.3, 1] } as const;

describe.each(CASES)('$id', ({ id, kind, sent }) => {
  const collective = findCollective(id);

  test.each(effort({ quick: [2, 3, 5, 8], soak: [2, 3, 4, 5, 6, 7, 8, 9] }))(
    'P = %d: sums, and bytes, on nodes drawn at random',
    async (ranks) => {
      const world = await sharedWorld(ranks);
      for (const [seed, values] of ['f32', 'f64', 'f32', 'f64'].entries()) {
        const places = randomPlaces(ranks, 100 * ranks + seed);
        const make = values === 'f32' ? integers : longIntegers;
        for (const length of [0, 1, ranks - 1, 1009]) {
          for (const density of DENSITIES[kind]) {
            const inputs: readonly Values[] = places.map((_, rank) =>
              make(rank, length, density),
            );
            const outcomes = await runCollective(
              collective,
              world.communicators('sum', values as 'f32' | 'f64', places),
              kind,
              inputs,
            );
            for (const { sum } of outcomes) {
              expect(firstDifference(sum, sumOf(inputs)), String(places)).toBe(-1);
            }
            expect(outcomes.map(({ sentBytes }) => sentBytes)).toEqual(
              sent(inputs, places),
            );
          }
        }
      }
    },
  );

  test.each(Object.entries(PLACES))(
    '%s: all ranks get the same bits in every run',
    async (_, places) => {
      const world = await sharedWorld(places.length);
      const inputs = places.map((_, rank) =>
        floats(rank, 30_001, kind === 'dense' ? 1 : 0.2),
      );
      const run = () =>
        runCollective(
          collective,
          world.communicators('sum', 'f32', places),
          kind,
          inputs,
        );
      const [first, ...others] = [...(await run()), ...(await run())];
      for (const { sum } of others) expect(sameBits(sum, first!.sum)).toBe(true);
      const bound = sumOf(inputs.map((input) => input.map(Math.abs)));
      const exact = sumOf(inputs.map((input) => Float64Array.from(input)));
      const wrong = exact.findIndex((value, index) => {
        const error = Math.abs(first!.sum[index]! - value);
        return error > bound[index]! * places.length * 2 ** -23;
      });
      expect(wrong).toBe(-1);
    },
  );

  test.each([
    ['min', Math.min],
    ['max', Math.max],
    ['prod', (x: number, y: number) => x * y],
  ] as readonly (readonly [ReduceOperation, (x: number, y: number) => number])[])(
    'reduces by %s, where absent entries are neutral',
    async (operation, apply) => {
      const places = PLACES['nodes of unequal ranks']!;
      for (const backend of BACKENDS) {
        const world = await sharedWorld(places.length, backend);
        const inputs = places.map((_, rank) =>
          integers(rank, 500, 0.3).map((value) => Math.sign(value) * 2 ** (value % 3)),
        );
        const outcomes = await runCollective(
          collective,
          world.communicators(operation, 'f32', places),
          kind,
          inputs,
          operation,
        );
        const expected = Array.from(inputs[0]!, (_, index) => {
          const values = inputs.map((input) => input[index]!).filter(Boolean);
          return values.length === 0 ? undefined : values.reduce((x, y) => apply(x, y));
        });
        for (const { entries } of outcomes) expect(entries).toEqual(expected);
      }
    },
  );

  test('in several chunks for each home, with any rank late', async () => {
    const places = [0, 1, 1, 0];
    for (const seed of [1, 2]) {
      const random = generator(seed);
      await using world = await makeWorld(places.length, {
        wrap: (transport) => delayed(transport, random),
      });
      const inputs = places.map((_, rank) => integers(rank, 400_000, 0.05));
      const outcomes = await runCollective(
        collective,
        world.communicators('sum', 'f32', places),
        kind,
        inputs,
      );
      for (const { sum } of outcomes) {
        expect(firstDifference(sum, sumOf(inputs))).toBe(-1);
      }
    }
  });

  test.each([0, 1, 2, 3])('ends on all ranks when rank %d is lost', async (lost) => {
    const places = [0, 1, 0, 1];
    await using world = await makeWorld(4);
    const communicators = world.communicators('sum', 'f32', places);
    const inputs = places.map((_, rank) => integers(rank, 300_000, 0.2));
    const outcomes = communicators
      .filter((_, rank) => rank !== lost)
      .map(async (communicator) =>
        runRank(collective, communicator, kind, inputs[communicator.rank]!),
      );
    const settled = Promise.allSettled(outcomes);
    await world.transports[lost]!.close();
    for (const outcome of await settled) {
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { code: 'PEER_LOST', rank: lost },
      });
    }
  });

  test('fails where the places are not those of the ranks', async () => {
    const world = await sharedWorld(3);
    for (const places of [
      [0, 1],
      [0, 1, 0.5],
      [0, 0, -1],
    ]) {
      expect(() => world.communicators('sum', 'f32', places)).toThrow(
        expect.objectContaining({ code: 'PLACES_INVALID', kind: 'input' }),
      );
    }
  });
});

/** Bytes that ranks send to other nodes, by node. */
async function crossing(
  id: string,
  kind: 'dense' | 'sparse',
  places: readonly number[],
  inputs: readonly Float32Array[],
): Promise<readonly number[]> {
  const left = new Map(places.map((place) => [place, 0]));
  const watched = (transport: Transport): Transport => ({
    rank: transport.rank,
    size: transport.size,
    counters: transport.counters,
    send: (to, header, data) => {
      const place = places[transport.rank]!;
      if (places[to] !== place) left.set(place, left.get(place)! + data.length);
      return transport.send(to, header, data);
    },
    receive: (...args) => transport.receive(...args),
    receiveSized: (...args) => transport.receiveSized(...args),
    abort: (error) => {
      transport.abort(error);
    },
    close: () => transport.close(),
  });
  await using world = await makeWorld(places.length, { wrap: watched });
  const communicators = world.communicators('sum', 'f32', places);
  await runCollective(findCollective(id), communicators, kind, inputs);
  return [...left.values()];
}

test('a node sends 2(M−1)/M of the vector, and a ring of all ranks nearly twice that', async () => {
  const places = PLACES['two nodes of equal ranks']!;
  const inputs = places.map((_, rank) => integers(rank, 80_000));
  expect(await crossing('hierarchical', 'dense', places, inputs)).toEqual([
    320_000, 320_000,
  ]);
  const [ring] = await crossing('ring', 'dense', places, inputs);
  expect(ring).toBe(1.75 * 320_000);
});

test('a node sends one stream, its own union', async () => {
  const places = PLACES['two nodes of equal ranks']!;
  const inputs = places.map((_, rank) => integers(rank, 80_000, 0.01));
  const union = (node: number): number => {
    const ranks = inputs.filter((_, rank) => places[rank] === node);
    return sumOf(ranks.map((input) => input.map(Math.abs))).filter(Boolean).length;
  };
  const sent = await crossing('ssar-hierarchical', 'sparse', places, inputs);
  // Four lanes, a header each.
  expect(sent).toEqual([0, 1].map((node) => 8 * union(node) + 4 * 8));
  const flat = await crossing('ssar-recursive-doubling', 'sparse', places, inputs);
  expect(flat[0]! / sent[0]!).toBeGreaterThan(3.9);
});

test('what the busiest rank is predicted to send', () => {
  const shape = { ranks: 5, places: [0, 1, 0, 1, 0], length: 1000, payloadBytes: 4000 };
  const sent = Array.from({ length: 5 }, (_, rank) =>
    hierarchicalBytesSent(rank, shape),
  );
  expect(findCollective('hierarchical').wireBytes(shape)).toBe(Math.max(...sent));
});
