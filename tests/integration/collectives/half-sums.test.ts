/**
 * Sums that travel in 16 bits, against an oracle in plain numbers: its bits on all ranks, in two
 * bytes an element. Contributions are rounded to nearest, added in f32 in rank order, and the sum
 * is rounded to nearest. No code is shared with the kernels.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { partRange } from '../../../src/agent/collectives/partition.ts';
import {
  bytesToSend,
  casesOf,
  KINDS,
  manyChunks,
  spoiledContribution,
  spoiledSums,
  sums,
  type QuantizingId,
} from './quantizing-collectives.ts';
import { firstDifference, floats, sameBits, type Outcome } from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, makeWorld, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

/** Bits of the fraction, the exponent of the smallest normal value, the largest value. */
const FORMATS = {
  bf16: { fraction: 7, least: -126, largest: (2 - 2 ** -7) * 2 ** 127 },
  fp16: { fraction: 10, least: -14, largest: 65_504 },
} as const;
type Format = keyof typeof FORMATS;
const formats = Object.keys(FORMATS) as Format[];

const cases = casesOf(formats);

/** The distance of the two values of the format between which this one is. */
function stepAt(value: number, format: Format): number {
  const { fraction, least } = FORMATS[format];
  const magnitude = Math.abs(value);
  const exponent = magnitude === 0 ? least : Math.floor(Math.log2(magnitude));
  return 2 ** (Math.max(exponent, least) - fraction);
}

/** The nearest value of the format, of two that are as near the even one. */
function nearest(value: number, format: Format): number {
  const step = stepAt(value, format);
  const steps = Math.abs(value) / step;
  const lower = Math.floor(steps);
  const [below, above] = [steps - lower, lower + 1 - steps];
  const isUp = below === above ? lower % 2 === 1 : above < below;
  const rounded = (isUp ? lower + 1 : lower) * step;
  const sign = value < 0 || Object.is(value, -0) ? -1 : 1;
  return sign * Math.min(rounded, FORMATS[format].largest);
}

/** Element by element, in the order of ranks; an owner's own contribution stays as it is. */
function expectedSum(
  inputs: readonly Float32Array[],
  id: QuantizingId,
  format: Format,
): Float32Array {
  const ranks = inputs.length;
  const { length } = inputs[0]!;
  const result = new Float32Array(length);
  for (let owner = 0; owner < ranks; owner++) {
    const { start, length: size } = partRange(length, ranks, owner);
    for (let i = start; i < start + size; i++) {
      const terms = inputs.map((input, rank) =>
        KINDS[id] === 'sparse' || rank === owner
          ? input[i]!
          : nearest(input[i]!, format),
      );
      const sum = terms.reduce((all, term) => Math.fround(all + term));
      result[i] = nearest(sum, format);
    }
  }
  return result;
}

/** Values between neighbours, ties, subnormals and zeros of both signs. */
const HARD: Readonly<Record<Format, readonly number[]>> = {
  bf16: [
    1 + 2 ** -8,
    1 + 3 * 2 ** -8,
    -(1 + 2 ** -8 + 2 ** -23),
    2 - 2 ** -9,
    2 ** -133 * 1.5,
    2 ** -134,
    2 ** -149,
    -0,
  ],
  fp16: [
    1 + 2 ** -11,
    1 + 3 * 2 ** -11,
    -(1 + 2 ** -11 + 2 ** -23),
    2 - 2 ** -12,
    2 ** -24 * 1.5,
    2 ** -25,
    2 ** -26,
    -0,
    1e5,
    -65_520,
  ],
};

function inputsOf(
  ranks: number,
  length: number,
  id: QuantizingId,
  format: Format,
): readonly Float32Array[] {
  const hard = HARD[format];
  return Array.from({ length: ranks }, (_, rank) => {
    const values = floats(rank, length, KINDS[id] === 'dense' ? 1 : 0.05);
    // Half of them alone, so that a sum is one of them; the others beside what others have.
    for (let i = 0; i < length; i += 3) {
      if (i % 2 === 0) values[i] = rank === i % ranks ? hard[i % hard.length]! : 0;
      else values[i] = hard[(i + rank) % hard.length]!;
    }
    return values;
  });
}

describe.each(cases)('%s in %s', (id, format) => {
  const kind = KINDS[id];
  const quantization = { format };

  test.each([1, 2, 3, 4, 5])(
    'P = %d: the bits of the oracle on all ranks, for two bytes an element',
    async (ranks) => {
      for (const backend of ranks === 3 ? BACKENDS : (['wasm'] as const)) {
        const world = await sharedWorld(ranks, backend);
        for (const length of [0, 1, 5, 257, 3001]) {
          const inputs = inputsOf(ranks, length, id, format);
          const outcomes = await sums(world, id, inputs, quantization);
          const where = `${backend}, P ${ranks}, N ${length}`;
          const bytes = bytesToSend(id, inputs, quantization, (n) => 2 * n);
          const sent = outcomes.map(({ sentBytes }) => sentBytes);
          expect(sent, where).toEqual(bytes.sent);
          expect(bytes.most ?? Math.max(...sent), where).toBe(Math.max(...sent));
          const expected = ranks === 1 ? inputs[0]! : expectedSum(inputs, id, format);
          for (const { sum } of outcomes) {
            expect(firstDifference(sum, expected), where).toBe(-1);
            expect(sameBits(sum, outcomes[0]!.sum), where).toBe(true);
          }
        }
      }
    },
    20_000,
  );

  test.each([2, 5])(
    'P = %d: a rounding is off by half a step at most',
    async (ranks) => {
      const world = await sharedWorld(ranks);
      const length = 2000;
      const inputs = world.transports.map((_, rank) => floats(rank, length));
      const outcomes = await sums(world, id, inputs, quantization);
      const { sum } = outcomes[0]!;
      const bounds: number[] = [];
      const errors: number[] = [];
      for (let owner = 0; owner < ranks; owner++) {
        const { start, length: size } = partRange(length, ranks, owner);
        for (let i = start; i < start + size; i++) {
          const exact = inputs.reduce((all, input) => all + input[i]!, 0);
          const first =
            kind === 'sparse'
              ? 0
              : inputs.reduce(
                  (all, input, rank) =>
                    rank === owner ? all : all + stepAt(input[i]!, format) / 2,
                  0,
                );
          const reached = Math.abs(exact) + first;
          // The additions are rounded to f32, too.
          const added = inputs.reduce((all, input) => all + Math.abs(input[i]!), 0);
          bounds.push(first + stepAt(reached, format) / 2 + ranks * added * 2 ** -24);
          errors.push(Math.abs(sum[i]! - exact));
        }
      }
      expect(errors.findIndex((error, i) => !(error <= bounds[i]!))).toBe(-1);
      // A bound of half as much would not hold.
      expect(errors.some((error, i) => error > bounds[i]! / 2)).toBe(true);
    },
  );

  test('what is too large becomes the largest value', async () => {
    await using world = await makeWorld(2);
    const { largest } = FORMATS[format];
    const value = format === 'bf16' ? 2 ** 128 - 2 ** 104 : 1e5;
    const inputs = [1, 0].map((factor) =>
      Float32Array.from({ length: 10 }, (_, i) => factor * value * (i < 6 ? 1 : -1)),
    );
    const outcomes = await sums(world, id, inputs, quantization);
    for (const { sum } of outcomes) {
      expect([sum[0], sum[5], sum[6], sum[9]]).toEqual([
        largest,
        largest,
        -largest,
        -largest,
      ]);
    }
  });

  test.each([NaN, Infinity, -Infinity])(
    'a rank with %d is named, wherever it is',
    async (value) => {
      await using world = await makeWorld(3);
      const inputs = world.transports.map(() => new Float32Array(301).fill(1));
      inputs[2]![41] = value;
      const run = sums(world, id, inputs, quantization);
      // A dense contribution is rank 2's own; a stream is summed by the owner of the part.
      const rank = kind === 'dense' ? 2 : 0;
      await expect(run).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        rank,
        message: `rank ${rank} sent a value that is not finite, element 41`,
        next: 'Only finite values can be quantised. Without quantisation, the sum would show the NaN or infinity.',
      });
    },
  );

  test('a sum that leaves the range of f32 is refused', async () => {
    await using world = await makeWorld(2);
    const inputs = world.transports.map(() => new Float32Array(64).fill(3e38));
    const run = sums(world, id, inputs, quantization);
    // fp16 cuts a contribution before it is added, but adds to one that was not cut.
    if (kind === 'dense' && format === 'fp16') {
      const [{ sum }] = (await run) as [Outcome];
      expect(sum).toEqual(new Float32Array(64).fill(65_504));
      return;
    }
    await expect(run).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(
        /^rank [01] sent a value that is not finite, element 0$/,
      ) as string,
    });
  });

  const infinity = format === 'bf16' ? 0x7f80 : 0x7c00;
  test.each([
    ['an infinity', 7, infinity],
    ['a negative infinity', 0, 0x8000 + infinity],
    ['a NaN at the end', 49, infinity + 1],
  ])('%s is refused, with the rank that sent it', async (_, at, code) => {
    const [first] = await spoiledSums(id, quantization, (bytes) => {
      new DataView(bytes.buffer).setUint16(2 * at, code, true);
    });
    expect(first).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'PAYLOAD_INVALID',
        rank: 1,
        message: expect.stringContaining(
          `rank 1 sent a value that is not finite, element ${at}`,
        ) as string,
      },
    });
  });
});

test('a contribution that is wrong is refused before it is added', async () => {
  const results = await spoiledContribution({ format: 'bf16' }, (bytes) => {
    new DataView(bytes.buffer).setUint16(4, 0x7f80, true);
  });
  // The first message of rank 2 is for rank 0.
  expect(results.map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(results[0]).toMatchObject({
    reason: {
      code: 'PAYLOAD_INVALID',
      rank: 2,
      message: 'rank 2 sent a value that is not finite, element 2',
    },
  });
});

test.each(formats)(
  'parts of many chunks are added as if at once in %s',
  async (format) => {
    const { expected, outcomes } = await manyChunks({ format });
    for (const { sum } of outcomes) expect(sameBits(sum, expected)).toBe(true);
  },
);
