/**
 * Sums that travel in few bits: unbiased, the same bits on all ranks, in the bytes of the
 * formula, and never further off than two roundings allow. Floats of 8 bits are compared
 * element by element in `float-sums.test.ts`.
 */
import { describe, expect, test } from 'vitest';
import type {
  LevelQuantization,
  Quantization,
} from '../../../src/agent/collectives/collective.ts';
import { partRange } from '../../../src/agent/collectives/partition.ts';
import { reduceScatter } from '../../../src/agent/collectives/reduce-scatter.ts';
import { collectives } from '../../../src/agent/collectives/registry.ts';
import { effort } from '../../harness/effort.ts';
import {
  floats,
  generator,
  integers,
  put,
  runCollective,
  sameBits,
  sumOf,
} from './run-collective.ts';
import { blocksSent, splitSent } from './stream-oracle.ts';
import { BACKENDS, makeWorld } from './world.ts';

const KINDS = {
  'scatter-reduce-allgather': 'dense',
  'dsar-split-allgather': 'sparse',
} as const;
const ids = Object.keys(KINDS) as (keyof typeof KINDS)[];

const settings: readonly LevelQuantization[] = [
  { bits: 2, bucket: 128, scale: 'max' },
  { bits: 4, bucket: 1024, scale: 'max' },
  { bits: 8, bucket: 1024, scale: 'l2' },
];

/** 4·⌈n/d⌉ + 4·⌈n·b/32⌉ */
const codeBytes = (length: number, { bits, bucket }: LevelQuantization): number =>
  4 * Math.ceil(length / bucket) + 4 * Math.ceil((length * bits) / 32);

/** Both kinds, coarse. */
const CODES: readonly Quantization[] = [
  { bits: 2, bucket: 16, scale: 'max' },
  { format: 'e4m3' },
  { format: 'e5m2' },
];

/** What each rank sends: contributions to the parts of others, then all parts. */
function sent(
  id: keyof typeof KINDS,
  inputs: readonly Float32Array[],
  quantization: LevelQuantization,
): readonly number[] {
  const ranks = inputs.length;
  const blocks = inputs.map(({ length }, part) =>
    codeBytes(partRange(length, ranks, part).length, quantization),
  );
  const all = blocks.reduce((sum, bytes) => sum + bytes, 0);
  return inputs.map((_, rank) => {
    const first = KINDS[id] === 'dense' ? all - blocks[rank]! : splitSent(rank, inputs);
    return first + blocksSent(rank, blocks);
  });
}

const norm = (values: Float32Array): number => Math.hypot(...values);
const largest = (values: Float32Array): number =>
  values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

describe.each(ids)('%s', (id) => {
  const collective = collectives.get(id)!;
  const kind = KINDS[id];

  test.each(effort({ quick: [1, 3, 4, 7], soak: [1, 2, 3, 4, 5, 7, 8, 9] }))(
    'P = %d: one result on all ranks, near the sum, for the bytes of the formula',
    async (ranks) => {
      for (const backend of ranks === 3 ? BACKENDS : (['wasm'] as const)) {
        await using world = await makeWorld(ranks, { backend });
        for (const quantization of settings) {
          const communicators = world.communicators();
          for (const length of [0, 1, 5, 1023, 1025, 9000]) {
            const inputs = communicators.map((_, rank) =>
              integers(rank, length, kind === 'dense' ? 1 : 0.05),
            );
            const outcomes = await runCollective(
              collective,
              communicators,
              kind,
              inputs,
              'sum',
              quantization,
            );
            const where = `P ${ranks}, N ${length}, ${quantization.bits} bits`;
            const bytes = sent(id, inputs, quantization);
            const [{ sum }] = outcomes as [(typeof outcomes)[number]];
            for (const [rank, outcome] of outcomes.entries()) {
              expect(sameBits(outcome.sum, sum), where).toBe(true);
              expect(outcome.sentBytes, where).toBe(bytes[rank]);
            }
            if (kind === 'dense') {
              const shape = { ranks, length, payloadBytes: 4 * length, quantization };
              expect(collective.wireBytes(shape), where).toBe(Math.max(...bytes));
            }
            const exact = sumOf(inputs);
            if (ranks === 1) {
              expect(sum).toEqual(exact);
              continue;
            }
            // A rounding is off by less than a level of its bucket's scale.
            const scaleOf = quantization.scale === 'max' ? largest : norm;
            const levels = 2 ** (quantization.bits - 1) - 1;
            const first = kind === 'dense' ? inputs : [];
            const contributions = first.reduce((all, input) => all + scaleOf(input), 0);
            const error = contributions / levels;
            const last =
              scaleOf(exact) +
              error * (quantization.scale === 'max' ? 1 : Math.sqrt(length));
            const bound = error + last / levels;
            const worst = sum.reduce(
              (most, value, index) => Math.max(most, Math.abs(value - exact[index]!)),
              0,
            );
            expect(worst, where).toBeLessThanOrEqual(bound * 1.000_01);
          }
        }
      }
    },
    20_000,
  );

  test.each(CODES)(
    'the same seed gives the same bits, the next exchange others: %j',
    async (quantization) => {
      const runs: Float32Array[][] = [];
      for (let run = 0; run < 2; run++) {
        await using world = await makeWorld(4);
        const communicators = world.communicators();
        const inputs = communicators.map((_, rank) =>
          floats(rank, 3000, kind === 'dense' ? 1 : 0.1),
        );
        const sums: Float32Array[] = [];
        for (let exchange = 0; exchange < 2; exchange++) {
          const outcomes = await runCollective(
            collective,
            communicators,
            kind,
            inputs,
            'sum',
            quantization,
          );
          sums.push(outcomes[0]!.sum);
        }
        runs.push(sums);
      }
      const [[first, second], again] = runs as [Float32Array[], Float32Array[]];
      expect(sameBits(again[0]!, first!)).toBe(true);
      expect(sameBits(again[1]!, second!)).toBe(true);
      expect(sameBits(first!, second!)).toBe(false);
    },
  );

  test.each(CODES)(
    'is unbiased: the mean of many exchanges is the sum: %j',
    async (quantization) => {
      const exchanges = 600;
      // A value near a code may never have been rounded to the other, 1/4 away or less.
      const rare = quantization.format === undefined ? 0 : (8 * 0.25) / exchanges;
      const length = 40;
      await using world = await makeWorld(3);
      const communicators = world.communicators();
      const random = generator(5);
      const inputs = communicators.map(() =>
        Float32Array.from({ length }, () =>
          kind === 'dense' || random() < 0.4 ? random() - 0.3 : 0,
        ),
      );
      const total = new Float64Array(length);
      const squares = new Float64Array(length);
      for (let exchange = 0; exchange < exchanges; exchange++) {
        const [outcome] = await runCollective(
          collective,
          communicators,
          kind,
          inputs,
          'sum',
          quantization,
        );
        for (const [index, value] of outcome!.sum.entries()) {
          total[index]! += value;
          squares[index]! += value * value;
        }
      }
      let noisy = 0;
      for (const [index, exact] of sumOf(inputs).entries()) {
        const mean = total[index]! / exchanges;
        const variance = Math.max(0, squares[index]! / exchanges - mean ** 2);
        if (variance > 1e-5) noisy++;
        const error = 5 * Math.sqrt(variance / exchanges) + rare + 1e-5;
        expect(Math.abs(mean - exact), `element ${index}`).toBeLessThan(error);
      }
      // Little is exact: a mean of values that are not rounded shows nothing.
      expect(noisy).toBeGreaterThan(length / 4);
    },
  );

  test.each(CODES)(
    'what no code can stand for is refused by name: %j',
    async (quantization) => {
      await using world = await makeWorld(2);
      const inputs = world.transports.map((_, rank) =>
        new Float32Array(100).fill(rank === 1 ? Infinity : 1),
      );
      const run = runCollective(
        collective,
        world.communicators(),
        kind,
        inputs,
        'sum',
        quantization,
      );
      await expect(run).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        next: expect.stringContaining('Only finite values') as string,
      });
    },
  );
});

test('two roundings for any P', async () => {
  const collective = collectives.get('scatter-reduce-allgather')!;
  const quantization = { bits: 4, bucket: 1024, scale: 'max' } as const;
  const length = 16_384;
  // Rounding uniform values to levels of width w is off by w²/6 on average. P − 1
  // contributions have w = m/7, the sum P·m/7, where m = 100 is the largest magnitude.
  for (const ranks of [6, 8]) {
    await using world = await makeWorld(ranks);
    const inputs = world.transports.map(() => integers(0, length));
    const outcomes = await runCollective(
      collective,
      world.communicators(),
      'dense',
      inputs,
      'sum',
      quantization,
    );
    const exact = sumOf(inputs);
    const { sum } = outcomes[0]!;
    const square = sum.reduce((all, x, index) => all + (x - exact[index]!) ** 2, 0);
    const noise = square / length / ((100 / 7) ** 2 / 6);
    const expected = ranks - 1 + ranks ** 2;
    expect(noise / expected, `P = ${ranks}`).toBeGreaterThan(0.8);
    expect(noise / expected, `P = ${ranks}`).toBeLessThan(1.2);
  }
});

test('the noise of every rank is its own', async () => {
  const ranks = 8;
  const length = 16_384;
  await using world = await makeWorld(ranks);
  // The same on all ranks: noise that were the same, too, would add up to (P − 1)²
  // instead of P − 1. A rank's contribution to its own part is exact.
  const values = integers(0, length);
  const errors = await Promise.all(
    world.communicators().map(async (communicator, rank) => {
      const { arena } = communicator;
      const { offset } = communicator.scratch('test', 4 * length);
      put(arena, offset, values);
      communicator.begin({
        epoch: 0,
        operation: reduceScatter.code,
        dtype: 1,
        quantization: { bits: 4, bucket: 1024, scale: 'max' },
      });
      const own = await reduceScatter.run(communicator, { offset, length });
      const { start } = partRange(length, ranks, rank);
      return [...arena.f32(own)].map((x, i) => x - ranks * values[start + i]!);
    }),
  );
  const square = errors.flat().reduce((all, error) => all + error ** 2, 0) / length;
  expect(square / ((100 / 7) ** 2 / 6) / (ranks - 1)).toBeCloseTo(1, 1);
});
