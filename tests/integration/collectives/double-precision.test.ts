/**
 * Every collective on f64 values: exact where f32 would round, in the bytes of their size,
 * with δ where pairs of 12 bytes are as long as elements of 8.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { REDUCE_OPERATIONS } from '../../../src/agent/kernels/reduction.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import {
  firstDifference,
  floats,
  longIntegers,
  runCollective,
  sameBits,
  sumOf,
} from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

describe.each(Object.keys(collectiveCases))('%s', (id) => {
  const collective = collectiveOf(id);
  const { kind, sent } = collectiveCases[id]!;
  const densities = kind === 'dense' ? [1] : [0, 0.01, 0.3, 0.7];

  test.each([1, 2, 3, 5, 8])(
    'P = %d: the exact sum for the exact bytes',
    async (ranks) => {
      for (const backend of ranks === 3 ? BACKENDS : (['wasm'] as const)) {
        const world = await sharedWorld(ranks, backend);
        const communicators = world.communicators('sum', 'f64');
        for (const length of [0, 1, 7, 1003, 6007]) {
          for (const density of densities) {
            const inputs = communicators.map((_, rank) =>
              longIntegers(rank, length, density),
            );
            const expected = sumOf(inputs);
            const bytes = sent(inputs);
            const outcomes = await runCollective(
              collective,
              communicators,
              kind,
              inputs,
            );
            for (const [rank, { sum, sentBytes }] of outcomes.entries()) {
              const where = `N ${length}, d ${density}, rank ${rank}`;
              expect(firstDifference(sum, expected), where).toBe(-1);
              expect(sentBytes, where).toBe(bytes[rank]);
            }
          }
        }
      }
    },
  );

  test.each(REDUCE_OPERATIONS)('%s: absent entries are neutral', async (operation) => {
    const world = await sharedWorld(3);
    const inputs = [
      Float64Array.of(0, 0, 0.1, 1e-300, 3, 0, -1e300, 0, 0, 0, 0, 0, 0, 0),
      Float64Array.of(0, 7, 0.2, 1e-300, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0),
      Float64Array.of(0, 0, 0.3, 0, 0, 0, -1e-300, 0, 0, 0, 0, 0, 0, 2 ** 53 - 1),
    ];
    const [zero, seven, tenths, tiny, three, , huge] = {
      sum: [undefined, 7, 0.1 + 0.2 + 0.3, 2e-300, 0, undefined, -1e300],
      min: [undefined, 7, 0.1, 1e-300, -3, undefined, -1e300],
      max: [undefined, 7, 0.3, 1e-300, 3, undefined, -1e-300],
      prod: [undefined, 7, 0.1 * 0.2 * 0.3, 0, -9, undefined, 1],
    }[operation];
    const outcomes = await runCollective(
      collective,
      world.communicators(operation, 'f64'),
      kind,
      inputs,
      operation,
    );
    for (const { entries } of outcomes) {
      expect(entries[0]).toBe(zero);
      expect(entries[1]).toBe(seven);
      // The order of summation is the algorithm's own.
      expect(entries[2]).toBeCloseTo(tenths!, 15);
      expect(entries[3]).toBe(tiny);
      // A sum that cancels is an entry of 0, or, in a dense vector, no entry.
      expect(entries[4] ?? 0).toBe(three);
      expect(entries[6]).toBe(huge);
      expect(entries[13]).toBe(2 ** 53 - 1);
    }
  });

  test('the same bits on all ranks and in two runs', async () => {
    const sums: Float64Array[] = [];
    for (let run = 0; run < 2; run++) {
      const world = await sharedWorld(5);
      const inputs = world.transports.map((_, rank) =>
        Float64Array.from(floats(rank, 3001, kind === 'dense' ? 1 : 0.2), (x) => x / 3),
      );
      const outcomes = await runCollective(
        collective,
        world.communicators('sum', 'f64'),
        kind,
        inputs,
      );
      sums.push(...outcomes.map(({ sum }) => sum));
    }
    expect(sums.every((sum) => sameBits(sum, sums[0]!))).toBe(true);
  });
});

test.each([
  // δ = 90·8/(4 + 8) = 60, where f32 has 45.
  ['sparse', 29, 30],
  ['dense', 30, 30],
])('two streams become %s with %d + %d entries of 90', async (form, a, b) => {
  const world = await sharedWorld(2);
  const inputs = [a, b].map((count) => new Float64Array(90).fill(0.1, 0, count));
  for (const id of ['ssar-recursive-doubling', 'sparse-allgather']) {
    const outcomes = await runCollective(
      collectives.get(id)!,
      world.communicators('sum', 'f64'),
      'sparse',
      inputs,
    );
    for (const outcome of outcomes) {
      expect(outcome.form, id).toBe(form);
      expect(outcome.sum).toEqual(sumOf(inputs));
    }
  }
});
