/** AUC of histograms against the share of ordered pairs, counted pair by pair. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  areaUnderCurve,
  BINS,
} from '../../../src/agent/training/metrics/area-under-curve.ts';
import {
  openJaxRuntime,
  type JaxRuntime,
} from '../../../src/agent/training/runtime/jax-runtime.ts';

let runtime: JaxRuntime;
beforeAll(async () => {
  runtime = await openJaxRuntime({ backend: 'wasm', threads: 1 });
});
afterAll(() => {
  runtime.release();
});

interface Scored {
  readonly score: number;
  readonly label: number;
}

/** What some blocks of samples sum up to, each by a call of its own. */
async function sumsOf(blocks: readonly (readonly Scored[])[]): Promise<number[]> {
  const { jax } = runtime;
  const totals = Array.from({ length: 2 * BINS }, () => 0);
  for (const block of blocks) {
    const [scores, labels] = (['score', 'label'] as const).map((key) =>
      jax.numpy.array(Float32Array.from(block, (sample) => sample[key])),
    );
    const tally = areaUnderCurve.tally!.of(jax, [scores!, labels!]);
    expect(tally.shape).toEqual([block.length, 2 * BINS]);
    for (const [i, sum] of [...(await tally.sum(0).data())].entries())
      totals[i]! += sum;
  }
  return totals;
}

const valueOf = (sums: readonly number[]): number | undefined =>
  areaUnderCurve.value({ loss: 0, predictions: 1, sums });

const areaOf = async (...blocks: readonly (readonly Scored[])[]) =>
  valueOf(await sumsOf(blocks));

/** Pair by pair, ties half. */
function pairs(samples: readonly Scored[]): number {
  let [ordered, all] = [0, 0];
  for (const positive of samples.filter(({ label }) => label === 1)) {
    for (const negative of samples.filter(({ label }) => label === 0)) {
      const difference = positive.score - negative.score;
      ordered += difference > 0 ? 1 : difference === 0 ? 0.5 : 0;
      all++;
    }
  }
  return ordered / all;
}

/** Of a fixed sequence; clicks have scores that are `apart` higher on average. */
function drawn(count: number, apart: number, spread: number): Scored[] {
  return Array.from({ length: count }, (_, i) => {
    const label = (i * 7) % 10 < 3 ? 1 : 0;
    const noise = ((i * 0.618_033_988_7) % 1) + ((i * 0.414_213_562_3) % 1) - 1;
    return { label, score: Math.fround(spread * noise + apart * label) };
  });
}

test.each([
  [0.3, 2],
  [1, 2],
  [-0.5, 1],
  // Probabilities about 1 in 1000.
  [1, 8],
  // Beyond what a sigmoid in f32 tells from 1.
  [10, 60],
])('scores that are %d apart and spread over %d', async (apart, spread) => {
  const samples = drawn(900, apart, spread).map(({ label, score }) => ({
    ...{ label, score: spread === 8 ? Math.fround(score - 7) : score },
  }));
  const exact = pairs(samples);
  const area = (await areaOf(samples))!;
  expect(Math.abs(area - exact)).toBeLessThan(0.002);
  // The blocks of several ranks add up to the same.
  expect(await areaOf(samples.slice(0, 100), samples.slice(100))).toBe(area);
});

test('the error is within half the share of pairs that fall into one bin', async () => {
  // Nearly all in one bin, as far from the exact area as can be.
  const samples = Array.from({ length: 60 }, (_, i) => ({
    ...{ label: i % 2, score: Math.fround(1 + 1e-5 * (i % 2) + (i < 4 ? 1 : 0)) },
  }));
  const sums = await sumsOf([samples]);
  let shared = 0;
  for (let bin = 0; bin < BINS; bin++) shared += sums[bin]! * sums[BINS + bin]!;
  const bound = shared / 2 / 30 ** 2;
  const error = Math.abs(valueOf(sums)! - pairs(samples));
  expect(error).toBeGreaterThan(0.4);
  expect(error).toBeLessThanOrEqual(bound + 1e-12);
});

describe('exactly', () => {
  const of = (...given: readonly (readonly [score: number, label: number])[]) =>
    areaOf(given.map(([score, label]) => ({ score, label })));

  test('ties count half, and equal scores say nothing', async () => {
    // Of four pairs two are in order, one is tied.
    expect(await of([1, 1], [0, 1], [0, 0], [-1, 0])).toBe(3.5 / 4);
    expect(await of([0.3, 1], [0.3, 0], [0.3, 0])).toBe(0.5);
  });

  test('in order and in reverse', async () => {
    expect(await of([5, 1], [4, 1], [-4, 0], [-50, 0])).toBe(1);
    expect(await of([-1e30, 1], [1e30, 0])).toBe(0);
  });

  test('is absent with only one class', async () => {
    expect(await of([1, 1], [2, 1])).toBeUndefined();
    expect(await of([1, 0])).toBeUndefined();
    expect(valueOf(Array.from({ length: 2 * BINS }, () => 0))).toBeUndefined();
  });

  test.each([NaN, Infinity, -Infinity])('of a score of %d it is NaN', async (score) => {
    expect(await of([1, 1], [score, 0], [0, 0])).toBeNaN();
  });
});
