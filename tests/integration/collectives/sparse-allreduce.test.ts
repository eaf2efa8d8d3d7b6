/**
 * What only sparse collectives can get wrong: where δ is, entries that cancel, values
 * however small, ranks with nothing, operations whose neutral element is not 0; and
 * whether the bytes on the wire are those of the formula.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import {
  REDUCE_OPERATIONS,
  type ReduceOperation,
} from '../../../src/agent/kernels/reduction.ts';
import { effort, runs } from '../../harness/effort.ts';
import { collectiveCases, collectiveOf } from './collective-cases.ts';
import {
  floats,
  generator,
  integers,
  payloadBytes,
  runCollective,
  sameBits,
  sumOf,
} from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

const sparseIds = Object.keys(collectiveCases).filter(
  (id) => collectiveCases[id]!.kind === 'sparse',
);

const reduce: Record<ReduceOperation, (x: number, y: number) => number> = {
  sum: (x, y) => x + y,
  min: Math.min,
  max: Math.max,
  prod: (x, y) => Math.fround(x * y),
};

/** Where no rank has an entry, none; zeros of the inputs are no entries. */
function reduced(
  operation: ReduceOperation,
  inputs: readonly Float32Array[],
): (number | undefined)[] {
  return Array.from(inputs[0]!, (_, index) => {
    const values = inputs.map((input) => input[index]!).filter((value) => value !== 0);
    return values.length === 0
      ? undefined
      : values.reduce((a, b) => reduce[operation](a, b));
  });
}

describe.each(sparseIds)('%s', (id) => {
  const collective = collectiveOf(id);
  const dynamic = id === 'dsar-split-allgather';

  test.each(effort({ quick: [4, 7], soak: [2, 3, 4, 7] }))(
    'P = %d: keeps entries that cancel, and values however small',
    async (ranks) => {
      const world = await sharedWorld(ranks);
      const inputs = world.transports.map(() => new Float32Array(1000));
      inputs[0]![3] = 1;
      inputs[1]![3] = -1;
      inputs[ranks - 1]![7] = 1e-30;
      inputs[ranks - 1]![999] = 1e-45;
      const outcomes = await runCollective(
        collective,
        world.communicators(),
        'sparse',
        inputs,
      );
      for (const { sum, form, count } of outcomes) {
        expect(sum).toEqual(sumOf(inputs));
        expect(form).toBe(dynamic ? 'dense' : 'sparse');
        expect(count).toBe(dynamic ? undefined : 3);
      }
    },
  );

  test.each([
    ['all the same', () => 0],
    ['disjoint', (rank: number) => 40 * rank],
    ['of one rank alone', (rank: number) => (rank === 2 ? 0 : NaN)],
    ['at the very end', () => 960],
  ])('indices that are %s, dense where they overlap', async (_, first) => {
    const world = await sharedWorld(5);
    const inputs = world.transports.map((_, rank) => {
      const input = new Float32Array(1000);
      const start = first(rank);
      if (Number.isFinite(start)) input.fill(1e-9 * (rank + 1), start, start + 40);
      return input;
    });
    const outcomes = await runCollective(
      collective,
      world.communicators(),
      'sparse',
      inputs,
    );
    expect(outcomes.every(({ sum }) => sameBits(sum, outcomes[0]!.sum))).toBe(true);
    for (const [index, value] of sumOf(inputs).entries()) {
      expect(outcomes[0]!.sum[index]).toBeCloseTo(value, 14);
      expect(outcomes[0]!.sum[index] === 0).toBe(value === 0);
    }
  });

  test.each([-1, 0, 1])('entries at δ and %d beside it are summed', async (beside) => {
    // P = 4: parts of 250 elements, δ of 125; the whole has its δ at 500.
    const world = await sharedWorld(4);
    for (const each of [31, 62, 125, 250, 500, 999]) {
      const inputs = world.transports.map((_, rank) => {
        const input = new Float32Array(1000);
        for (let i = 0; i < each + beside; i++) input[(i * 7 + rank) % 1000] = rank + 1;
        return input;
      });
      const outcomes = await runCollective(
        collective,
        world.communicators(),
        'sparse',
        inputs,
      );
      for (const { sum } of outcomes) expect(sum).toEqual(sumOf(inputs));
    }
  });

  test.each([
    [2, 0.002],
    [4, 0.01],
    [8, 0.01],
    [8, 0.1],
  ])(
    'P = %d, d = %d: the bytes of the formula, within 3 %%',
    async (ranks, density) => {
      const world = await sharedWorld(ranks);
      const length = 80_000;
      const inputs = world.transports.map((_, rank) => integers(rank, length, density));
      const outcomes = await runCollective(
        collective,
        world.communicators(),
        'sparse',
        inputs,
      );
      const bytes = inputs.map((input) => payloadBytes('sparse', input));
      const predicted = collective.wireBytes({
        ranks,
        length,
        payloadBytes: bytes.reduce((sum, value) => sum + value, 0) / ranks,
      });
      const worst = Math.max(...outcomes.map(({ sentBytes }) => sentBytes));
      // Parts of a few hundred entries differ by chance, and headers add 8 bytes each.
      const chance = 3 / Math.sqrt((length * density) / ranks);
      expect(worst / predicted).toBeGreaterThan(1 - 0.03 - chance);
      expect(worst / predicted).toBeLessThan(1 + 0.03 + chance);
      const average =
        outcomes.reduce((sum, { sentBytes }) => sum + sentBytes, 0) / ranks;
      expect(average / predicted).toBeLessThan(1.03);
    },
  );
});

describe.each(Object.keys(collectiveCases))('%s', (id) => {
  const collective = collectiveOf(id);
  const { kind } = collectiveCases[id]!;

  test.each(REDUCE_OPERATIONS)(
    'reduces by %s, where absent entries are neutral',
    async (operation) => {
      for (const ranks of effort({ quick: [1, 3, 8], soak: [1, 2, 3, 5, 8] })) {
        // The other backend where operations meet, a fold and a doubling: at three ranks.
        const both = effort({ quick: ranks === 3, soak: true });
        for (const backend of both ? BACKENDS : (['wasm'] as const)) {
          const world = await sharedWorld(ranks, backend);
          for (const density of [0.02, 0.2, 1]) {
            const inputs = world.transports.map((_, rank) =>
              integers(rank, 600, density).map(
                (value) => Math.sign(value) * 2 ** (value % 5),
              ),
            );
            const expected = reduced(operation, inputs);
            const outcomes = await runCollective(
              collective,
              world.communicators(operation),
              kind,
              inputs,
              operation,
            );
            for (const { entries } of outcomes) {
              const same = entries.map((value, index) => {
                const right = expected[index];
                // Under a sum, entries that cancel and absent ones are both 0.
                return operation === 'sum'
                  ? (value ?? 0) === (right ?? 0)
                  : Object.is(value, right);
              });
              expect(same).not.toContain(false);
            }
          }
        }
      }
    },
  );
});

test('a product that underflows stays 0 in any form', async () => {
  const inputs = [1e-30, 1e-30, 5].map((value) =>
    Float32Array.from({ length: 8 }, (_, index) => (index < 5 ? value : 0)),
  );
  for (const id of Object.keys(collectiveCases)) {
    const world = await sharedWorld(3);
    const { kind } = collectiveCases[id]!;
    const outcomes = await runCollective(
      collectiveOf(id),
      world.communicators('prod'),
      kind,
      inputs,
      'prod',
    );
    for (const { entries } of outcomes) {
      expect(entries, id).toEqual([0, 0, 0, 0, 0, undefined, undefined, undefined]);
    }
  }
});

test.each([16, 17])('P = %d: parts travel directly, or in rounds', async (ranks) => {
  const world = await sharedWorld(ranks);
  const inputs = world.transports.map((_, rank) => integers(rank, 3000, 0.02));
  const outcomes = await runCollective(
    collectiveOf('ssar-split-allgather'),
    world.communicators(),
    'sparse',
    inputs,
  );
  const gather = ranks === 16 ? 15 : 5;
  for (const { sum, form, sentMessages } of outcomes) {
    expect(sum).toEqual(sumOf(inputs));
    expect(form).toBe('sparse');
    expect(sentMessages).toBe(ranks - 1 + gather);
  }
});

test('any P, N, k and form give the sums of the dense ring, to the rounding of f32', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 300 }),
      fc.constantFrom(0, 0.01, 0.1, 0.5, 0.9),
      fc.constantFrom(...sparseIds),
      fc.nat(),
      async (ranks, length, density, id, seed) => {
        const random = generator(seed);
        const world = await sharedWorld(ranks);
        const inputs = world.transports.map((_, rank) =>
          // A rank with nothing is as likely as one with everything.
          floats(rank, length, random() < 0.3 ? 0 : density),
        );
        const outcomes = await runCollective(
          collectiveOf(id),
          world.communicators(),
          'sparse',
          inputs,
        );
        for (const { sum } of outcomes)
          expect(sameBits(sum, outcomes[0]!.sum)).toBe(true);
        const scale = inputs.map((input) => input.map(Math.abs));
        const bound = sumOf(scale);
        for (const [index, value] of sumOf(inputs).entries()) {
          const error = Math.abs(outcomes[0]!.sum[index]! - value);
          expect(error).toBeLessThanOrEqual(bound[index]! * ranks * 2 ** -23);
        }
      },
    ),
    { numRuns: runs(60) },
  );
});
