/**
 * What depends on the nodes on which ranks are: sums, the order of summation, and what
 * passes the links between nodes.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { hierarchicalBytesSent } from '../../../src/agent/collectives/hierarchical.ts';
import { findCollective } from '../../../src/agent/collectives/registry.ts';
import { PLACES, randomPlaces } from './node-cases.ts';
import {
  firstDifference,
  floats,
  integers,
  longIntegers,
  runCollective,
  sameBits,
  sumOf,
  type Values,
} from './run-collective.ts';
import { closeSharedWorlds, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

const hierarchical = findCollective('hierarchical');

describe.each([2, 3, 4, 5, 6, 7, 8, 9])('P = %d', (ranks) => {
  test.each([1, 2, 3, 4])('sums on nodes drawn at random: %d', async (seed) => {
    const world = await sharedWorld(ranks);
    const places = randomPlaces(ranks, 100 * ranks + seed);
    for (const length of [0, 1, ranks - 1, 1009]) {
      for (const make of [integers, longIntegers]) {
        const inputs: readonly Values[] = places.map((_, rank) => make(rank, length));
        const values = make === integers ? 'f32' : 'f64';
        const outcomes = await runCollective(
          hierarchical,
          world.communicators('sum', values, places),
          'dense',
          inputs,
        );
        for (const [rank, { sum, sentBytes }] of outcomes.entries()) {
          expect(firstDifference(sum, sumOf(inputs))).toBe(-1);
          const payloadBytes = inputs[0]!.byteLength;
          const valueBytes = values === 'f32' ? 4 : 8;
          const shape = { ranks, places, length, payloadBytes, valueBytes } as const;
          expect(sentBytes).toBe(hierarchicalBytesSent(rank, shape));
        }
      }
    }
  });
});

test.each(Object.entries(PLACES))(
  '%s: all ranks get the same bits, in chunks too',
  async (_, places) => {
    const world = await sharedWorld(places.length);
    const inputs = places.map((_, rank) => floats(rank, 300_001));
    const [first, ...others] = await runCollective(
      hierarchical,
      world.communicators('sum', 'f32', places),
      'dense',
      inputs,
    );
    for (const { sum } of others) expect(sameBits(sum, first!.sum)).toBe(true);
  },
);
