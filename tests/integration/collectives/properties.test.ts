import fc from 'fast-check';
import { expect, test } from 'vitest';
import { effort, runs } from '../../harness/effort.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import { delayed } from './delayed-transport.ts';
import {
  firstDifference,
  generator,
  integers,
  longIntegers,
  runRank,
  sumOf,
  type Values,
} from './run-collective.ts';
import { makeWorld } from './world.ts';

const LONGEST = effort({ quick: 8000, soak: 20_000 });

/** A random order of so many things. */
function shuffled(count: number, random: () => number): readonly number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let last = count - 1; last > 0; last--) {
    const other = Math.floor((last + 1) * random());
    [order[last], order[other]] = [order[other]!, order[last]!];
  }
  return order;
}

test.each(Object.keys(collectiveCases))(
  '%s: any P, any N, any timing, several in flight at once in any order of streams',
  async (id) => {
    const collective = collectiveOf(id);
    const { kind } = collectiveCases[id]!;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 7 }),
        fc.array(fc.integer({ min: 0, max: LONGEST }), { minLength: 1, maxLength: 4 }),
        fc.constantFrom(0, 0.01, 0.3, 1),
        fc.constantFrom('f32', 'f64'),
        fc.nat(),
        async (ranks, lengths, density, values, seed) => {
          const random = generator(seed);
          await using world = await makeWorld(ranks, {
            wrap: (transport) => delayed(transport, random),
          });
          const make: (rank: number, length: number, density: number) => Values =
            values === 'f32' ? integers : longIntegers;
          const exchanges = lengths.map((length) => ({
            communicators: world.communicators('sum', values),
            inputs: world.transports.map((_, rank) =>
              make(rank, length, kind === 'dense' ? 1 : density),
            ),
          }));
          // Every rank starts them in an order of its own, without waiting.
          const outcomes = await Promise.all(
            world.transports.flatMap((_, rank) =>
              shuffled(exchanges.length, random).map(async (index) => {
                const { communicators, inputs } = exchanges[index]!;
                const { sum } = await runRank<Values>(
                  collective,
                  communicators[rank]!,
                  kind,
                  inputs[rank]!,
                );
                return { index, sum };
              }),
            ),
          );
          const sums = exchanges.map(({ inputs }) => sumOf(inputs));
          for (const { index, sum } of outcomes) {
            const expected = sums[index]!;
            expect(firstDifference(sum, expected)).toBe(-1);
          }
        },
      ),
      { numRuns: runs(12) },
    );
  },
);
