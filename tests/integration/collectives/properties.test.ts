import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { collectiveCases } from './collective-cases.ts';
import { delayed } from './delayed-transport.ts';
import { generator, integers, runCollective, sumOf } from './run-collective.ts';
import { makeWorld } from './world.ts';

test.each(Object.keys(collectiveCases))(
  '%s: any P, any N, any timing, several in flight at once',
  async (id) => {
    const collective = collectives.get(id)!;
    const { kind } = collectiveCases[id]!;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 6 }),
        fc.array(fc.integer({ min: 0, max: 40_000 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0, 0.01, 0.3, 1),
        fc.nat(),
        async (ranks, lengths, density, seed) => {
          const random = generator(seed);
          await using world = await makeWorld(ranks, {
            wrap: (transport) => delayed(transport, random),
          });
          const sums = await Promise.all(
            lengths.map(async (length) => {
              const inputs = world.transports.map((_, rank) =>
                integers(rank, length, kind === 'dense' ? 1 : density),
              );
              const outcomes = await runCollective(
                collective,
                world.communicators(),
                kind,
                inputs,
              );
              return { expected: sumOf(inputs), outcomes };
            }),
          );
          for (const { expected, outcomes } of sums) {
            for (const { sum } of outcomes) {
              expect(sum.every((value, index) => value === expected[index])).toBe(true);
            }
          }
        },
      ),
      { numRuns: 25 },
    );
  },
);
