/**
 * Sums that travel as floats of 8 bits (MXFP8), against the format as its specification has it:
 * the same bits on all ranks, in the bytes of the formula, every element as near the sum as two
 * roundings allow; and what a wrong peer sends is refused. No code is shared with the kernels.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { partRange } from '../../../src/agent/collectives/partition.ts';
import { reduceScatter } from '../../../src/agent/collectives/reduce-scatter.ts';
import {
  bytesToSend,
  casesOf,
  KINDS,
  manyChunks,
  spoiledContribution,
  spoiledSums,
  sums,
} from './quantizing-collectives.ts';
import { floats, generator, put, sameBits, sumOf } from './run-collective.ts';
import { BACKENDS, closeSharedWorlds, makeWorld, sharedWorld } from './world.ts';

afterAll(closeSharedWorlds);

/** Table 1 of the specification: the largest value is 1.75·2^most. */
const FORMATS = {
  e4m3: { fraction: 3, least: -6, most: 8 },
  e5m2: { fraction: 2, least: -14, most: 15 },
} as const;
type Format = keyof typeof FORMATS;
const formats = Object.keys(FORMATS) as Format[];

const cases = casesOf(formats);

/** A byte for each element and one for each 32, either in whole words. */
const codeBytes = (n: number): number =>
  4 * Math.ceil(Math.ceil(n / 32) / 4) + 4 * Math.ceil(n / 4);

/**
 * The distance of the neighbours of each value in its block's format.
 * @param magnitudes in blocks of 32 from the first on
 */
function stepsOf(magnitudes: readonly number[], format: Format): readonly number[] {
  const { fraction, least, most } = FORMATS[format];
  return magnitudes.map((magnitude, index) => {
    const start = index - (index % 32);
    const largest = Math.max(...magnitudes.slice(start, start + 32));
    let scale = -127;
    while (largest > 1.75 * 2 ** (most + scale)) scale++;
    const exponent = magnitude === 0 ? -Infinity : Math.floor(Math.log2(magnitude));
    return 2 ** (Math.max(exponent, least + scale) - fraction);
  });
}

/** The most by which each element of a part may differ from its sum, on all ranks. */
function boundsOf(
  contributions: readonly (readonly number[])[],
  exact: readonly number[],
  format: Format,
): readonly number[] {
  const magnitudes = (values: readonly number[]): number[] =>
    values.map((value) => Math.abs(value));
  const steps = contributions.map((values) => stepsOf(magnitudes(values), format));
  const first = exact.map((_, index) =>
    steps.reduce((sum, each) => sum + each[index]!, 0),
  );
  const reached = magnitudes(exact).map((value, index) => value + first[index]!);
  const last = stepsOf(reached, format);
  // f32 rounds the sum, too.
  return first.map((one, index) => (one + last[index]!) * 1.000_01 + 1e-6);
}

describe.each(cases)('%s in %s', (id, format) => {
  const kind = KINDS[id];
  const quantization = { format };

  test.each([1, 2, 3, 5, 8])(
    'P = %d: one result on all ranks, near each sum, for the bytes of the formula',
    async (ranks) => {
      for (const backend of ranks === 3 ? BACKENDS : (['wasm'] as const)) {
        const world = await sharedWorld(ranks, backend);
        for (const length of [0, 1, 5, 257, 3001]) {
          const inputs = world.transports.map((_, rank) =>
            floats(rank, length, kind === 'dense' ? 1 : 0.05),
          );
          const outcomes = await sums(world, id, inputs, quantization);
          const where = `P ${ranks}, N ${length}`;
          const { sum } = outcomes[0]!;
          const bytes = bytesToSend(id, inputs, quantization, codeBytes);
          const sent = outcomes.map(({ sentBytes }) => sentBytes);
          expect(sent, where).toEqual(bytes.sent);
          expect(bytes.most ?? Math.max(...sent), where).toBe(Math.max(...sent));
          for (const outcome of outcomes)
            expect(sameBits(outcome.sum, sum), where).toBe(true);
          if (ranks === 1) continue;
          const exact = [...sumOf(inputs.map((input) => Float64Array.from(input)))];
          for (let owner = 0; owner < ranks; owner++) {
            const { start, length: size } = partRange(length, ranks, owner);
            const cut = (values: ArrayLike<number>): number[] =>
              Array.from({ length: size }, (_, index) => values[start + index]!);
            const others = inputs.filter((_, rank) => rank !== owner);
            const rounded = kind === 'dense' ? others.map(cut) : [];
            const bounds = boundsOf(rounded, cut(exact), format);
            const worst = bounds.findIndex(
              (bound, i) => !(Math.abs(sum[start + i]! - exact[start + i]!) <= bound),
            );
            expect(worst, `${where}: part ${owner}`).toBe(-1);
          }
        }
      }
    },
    20_000,
  );

  test('what the format has is exact', async () => {
    const world = await sharedWorld(3);
    // Sums up to 4 in steps of 1/2 have three bits.
    const inputs = world.transports.map((_, rank) =>
      Float32Array.from({ length: 500 }, (_, i) => (((rank + 1) * i) % 3) / 2),
    );
    const outcomes = await sums(world, id, inputs, quantization);
    for (const { sum } of outcomes) expect(sum).toEqual(sumOf(inputs));
  });

  test.each([NaN, -Infinity])(
    'a rank with %d is named, wherever it is',
    async (value) => {
      await using world = await makeWorld(3);
      const inputs = world.transports.map(() => new Float32Array(300).fill(1));
      inputs[2]![40] = value;
      const run = sums(world, id, inputs, quantization);
      // A dense contribution is rank 2's own; a stream is summed by the owner of the part.
      const rank = kind === 'dense' ? 2 : 0;
      await expect(run).rejects.toMatchObject({
        code: 'PAYLOAD_INVALID',
        rank,
        message: `rank ${rank} sent a scale of NaN`,
        next: 'Only finite values can be quantised. Without quantisation, the sum would show the NaN or infinity.',
      });
    },
  );

  test('a sum that leaves the range of f32 is refused', async () => {
    await using world = await makeWorld(2);
    const inputs = world.transports.map(() => new Float32Array(64).fill(2 ** 127));
    const run = sums(world, id, inputs, quantization);
    await expect(run).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringMatching(/^rank [01] sent a scale of NaN$/) as string,
    });
  });

  const most = format === 'e4m3' ? 246 : 239;
  test.each([
    [
      'a scale that is too large',
      0,
      most + 1,
      `a scale of ${most + 1}; at most ${most}`,
    ],
    ['the scale NaN', 1, 255, 'a scale of NaN'],
    // 50 elements have 2 scales, in a word.
    ['a NaN', 4 + 7, 0xff, 'a value that is not finite, element 7'],
    ['a NaN at the end', 4 + 49, 0x7f, 'a value that is not finite, element 49'],
  ])('%s is refused, with the rank that sent it', async (_, at, byte, message) => {
    const [first] = await spoiledSums(id, quantization, (bytes) => {
      bytes[at] = byte;
    });
    expect(first).toMatchObject({
      status: 'rejected',
      reason: {
        code: 'PAYLOAD_INVALID',
        rank: 1,
        message: expect.stringContaining(`rank 1 sent ${message}`) as string,
      },
    });
  });
});

test('a contribution that is wrong is refused before it is added', async () => {
  const results = await spoiledContribution({ format: 'e4m3' }, (bytes) => {
    bytes[0] = 250;
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
      message: 'rank 2 sent a scale of 250; at most 246 is possible',
    },
  });
});

test('the noise of every rank is its own', async () => {
  const ranks = 8;
  const length = 16_384;
  await using world = await makeWorld(ranks);
  const random = generator(11);
  // The same on all ranks, of one binade, where two bits of fraction are steps of 1/4. Noise that
  // were the same, too, would add up to (P − 1)² instead of P − 1.
  const values = Float32Array.from({ length }, () => 1 + 0.75 * random());
  const errors = await Promise.all(
    world.communicators().map(async (communicator, rank) => {
      const { arena } = communicator;
      const { offset } = communicator.scratch('test', 4 * length);
      put(arena, offset, values);
      communicator.begin({
        epoch: 0,
        operation: reduceScatter.code,
        dtype: 1,
        quantization: { format: 'e5m2' },
      });
      const own = await reduceScatter.run(communicator, { offset, length });
      const { start } = partRange(length, ranks, rank);
      return [...arena.f32(own)].map((x, i) => x - ranks * values[start + i]!);
    }),
  );
  const square = errors.flat().reduce((all, error) => all + error ** 2, 0) / length;
  // Rounding uniform values to steps of w is off by w²/6 on average.
  const noise = square / (0.25 ** 2 / 6) / (ranks - 1);
  expect(noise).toBeGreaterThan(0.9);
  expect(noise).toBeLessThan(1.1);
});

test('parts of many chunks are added as if at once', async () => {
  const { expected, outcomes } = await manyChunks({ format: 'e4m3' });
  for (const { sum } of outcomes) expect(sameBits(sum, expected)).toBe(true);
});
