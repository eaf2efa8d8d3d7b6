/** AUC against the share of ordered pairs, counted pair by pair. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MeasureTotals } from '../../../src/agent/training/measure-totals.ts';
import { areaUnderCurve } from '../../../src/agent/training/metrics/area-under-curve.ts';
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

/** As a trainer measures it: in blocks of samples. */
async function areaOf(
  ...blocks: readonly (readonly Scored[])[]
): Promise<number | undefined> {
  const { numpy } = runtime.jax;
  const totals = new MeasureTotals(areaUnderCurve);
  for (const block of blocks) {
    const losses = numpy.zeros([block.length]);
    const [scores, labels] = (['score', 'label'] as const).map((key) =>
      numpy.array(Float32Array.from(block, (sample) => sample[key])),
    );
    await totals.add([losses, scores!, labels!], block.length);
  }
  const { loss, sums } = totals.result();
  return areaUnderCurve.value({ loss, predictions: 1, sums });
}

/** Pair by pair, ties half. */
function pairs(samples: readonly Scored[]): number {
  let [ordered, all] = [0, 0];
  for (const positive of samples.filter(({ label }) => label === 1)) {
    for (const negative of samples.filter(({ label }) => label === 0)) {
      if (positive.score > negative.score) ordered++;
      else if (positive.score === negative.score) ordered += 0.5;
      all++;
    }
  }
  return ordered / all;
}

/** Of a fixed sequence, with ties; positive samples score 0.3 higher on average. */
function drawn(count: number): Scored[] {
  return Array.from({ length: count }, (_, i) => {
    const label = (i * 7) % 10 < 3 ? 1 : 0;
    const noise = ((i * 0.618_033_988_7) % 1) + ((i * 0.414_213_562_3) % 1) - 1;
    return { label, score: Math.round(100 * noise + 30 * label) / 100 };
  });
}

const transformed = (samples: readonly Scored[], of: (score: number) => number) =>
  samples.map(({ label, score }) => ({ label, score: Math.fround(of(score)) }));

describe('only the order of the scores matters', () => {
  const samples = transformed(drawn(700), (score) => score);
  const exact = pairs(samples);

  test.each<[string, (score: number) => number]>([
    ['as they are', (s) => s],
    ['× 0.001', (s) => s * 1e-3],
    ['× 1e-5', (s) => s * 1e-5],
    ['× 1e6', (s) => s * 1e6],
    ['× 1e30', (s) => s * 1e30],
    ['denormal', (s) => s * 1e-40],
    ['− 7', (s) => s - 7],
    ['probabilities', (s) => 1 / (1 + Math.exp(-s))],
    ['cubes', (s) => s ** 3],
  ])('%s', async (_, of) => {
    const scored = transformed(samples, of);
    expect(pairs(scored)).toBe(exact);
    expect(await areaOf(scored)).toBe(exact);
    expect(await areaOf(scored.slice(0, 100), scored.slice(100))).toBe(exact);
  });
});

describe('exactly', () => {
  const of = (...given: readonly (readonly [score: number, label: number])[]) =>
    areaOf(given.map(([score, label]) => ({ score, label })));

  test('ties count half, and equal scores say nothing', async () => {
    // Of four pairs two are in order, one is tied.
    expect(await of([1, 1], [0, 1], [0, 0], [-1, 0])).toBe(3.5 / 4);
    expect(await of([0.3, 1], [0.3, 0], [0.3, 0])).toBe(0.5);
    expect(await of([-0, 1], [0, 0])).toBe(0.5);
    expect(await of([0, 1], [-0, 0], [-1e-45, 0], [1e-45, 0])).toBe(1.5 / 3);
  });

  test('in order and in reverse', async () => {
    expect(await of([5, 1], [4, 1], [-4, 0], [-50, 0])).toBe(1);
    expect(await of([-1e30, 1], [1e30, 0])).toBe(0);
  });

  test('infinite scores have their place', async () => {
    expect(await of([Infinity, 1], [3e38, 0], [Infinity, 0])).toBe(1.5 / 2);
    expect(await of([-Infinity, 1], [-3e38, 0], [-Infinity, 0])).toBe(0.5 / 2);
  });

  test('is absent with only one class', async () => {
    expect(await of([1, 1], [2, 1])).toBeUndefined();
    expect(await of([1, 0])).toBeUndefined();
    expect(await areaOf()).toBeUndefined();
  });

  test('of a score that is not a number it is none', async () => {
    expect(
      areaUnderCurve.value({ loss: 0, predictions: 1, sums: [NaN, 0, 0] }),
    ).toBeNaN();
    expect(await of([1, 1], [NaN, 0], [0, 0])).toBeNaN();
    expect(await of([NaN, 1], [1, 1])).toBeNaN();
  });
});
