/** The ratio's schedule, and the dense warm-up of every method that has one. */
import { describe, expect, it } from 'vitest';
import type { TensorSlice } from '../../../src/agent/compression/method.ts';
import {
  parseRates,
  rateOf,
  segmentsOf,
} from '../../../src/agent/compression/policy/layer-rates.ts';
import {
  largestRatio,
  ratioAt,
} from '../../../src/agent/compression/policy/ratio-schedule.ts';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/compression/registry.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { SimulatedWorld } from './simulated-world.ts';

describe('the ratio', () => {
  it('is constant without a ramp', () => {
    const constant = { ratio: 0.01, rampIterations: 0, rampFrom: 0.5 };
    expect([0, 1, 1000].map((i) => ratioAt(constant, i))).toEqual([0.01, 0.01, 0.01]);
    expect(largestRatio(constant)).toBe(0.01);
  });

  it('falls by the same factor in every iteration of a ramp, then stays', () => {
    const ramp = { ratio: 0.001, rampIterations: 4, rampFrom: 0 };
    const ratios = [0, 1, 2, 3, 4, 5].map((i) => ratioAt(ramp, i));
    const factor = (0.001 / 0.25) ** (1 / 4);
    ratios.slice(0, 5).forEach((ratio, i) => {
      expect(ratio).toBeCloseTo(0.25 * factor ** i, 12);
    });
    expect(ratios.slice(4)).toEqual([0.001, 0.001]);
    expect(largestRatio(ramp)).toBe(0.25);
  });

  it('begins its ramp when the warm-up has ended', () => {
    const ramp = { ratio: 0.1, rampIterations: 2, rampFrom: 0.4, warmupIterations: 10 };
    expect([0, 10, 11, 12].map((i) => ratioAt(ramp, i))).toEqual([0.4, 0.4, 0.2, 0.1]);
  });

  it.each(['topk', 'randomk', 'gaussiank', 'scalecom', 'dgc'])(
    'takes %s from many entries to few',
    async (method) => {
      const world = new SimulatedWorld({
        method,
        parameters: { ratio: 0.01, rampIterations: 4, rampFrom: 0.64 },
        ranks: 2,
        length: 10_000,
        makeKernels: (arena) => backends.wasm(arena).kernels,
      });
      const counts: number[] = [];
      for (let i = 0; i < 6; i++) {
        await world.exchange(i, [bellShaped(10_000, i + 1), bellShaped(10_000, i + 9)]);
        counts.push(world.statistics[0]!.nnzLocal!);
      }
      [6400, 2263, 800, 283, 100, 100].forEach((expected, i) => {
        expect(Math.abs(counts[i]! - expected)).toBeLessThanOrEqual(
          (method === 'gaussiank' ? 0.26 : 0.07) * expected,
        );
      });
    },
  );
});

describe('ratios of layers', () => {
  const layer = (name: string, start: number, length: number): TensorSlice => ({
    name,
    start,
    length,
    shape: [length],
  });

  it.each([
    ['*.bias', 'layer1.bias', true],
    ['*.bias', 'layer1.biases', false],
    ['layer?', 'layer1', false],
    ['conv.1', 'conv.1', true],
    ['conv.1', 'convX1', false],
    ['a*c*e', 'abcde', true],
    ['*', 'anything', true],
  ])('%s fits %s: %s', (pattern, name, fits) => {
    const rates = parseRates(`${pattern}=0.5`)!;
    expect(rateOf(rates, name)).toBe(fits ? 0.5 : undefined);
  });

  it('takes the first that fits', () => {
    const rates = parseRates(' a*=0.5,  *b=1e-3 ')!;
    expect(['ab', 'cb', 'c'].map((name) => rateOf(rates, name))).toEqual([
      0.5,
      0.001,
      undefined,
    ]);
  });

  it.each(['a', 'a=', '=1', 'a=0', 'a=1.5', 'a=x', 'a=b=1', 'a=1 b', 'a=-1', 'a=NaN'])(
    'refuses "%s", and says what it wants',
    (layers) => {
      expect(() => validateParameters(findMethod('topk'), { layers })).toThrow(
        expect.objectContaining({
          code: 'METHOD_PARAMETER_INVALID',
          message: expect.stringContaining('"layers"'),
        }),
      );
    },
  );

  it('cuts a bucket where ratios change, and nowhere else', () => {
    const tensors = [
      layer('w1', 0, 5),
      layer('w2', 5, 2),
      layer('b1', 7, 3),
      layer('b2', 10, 1),
      layer('w3', 11, 9),
    ];
    expect(segmentsOf(tensors, parseRates('b*=0.5')!)).toEqual([
      { start: 0, length: 7 },
      { start: 7, length: 3, ratio: 0.5 },
      { start: 10, length: 1, ratio: 0.5 },
      { start: 11, length: 9 },
    ]);
    expect(segmentsOf(tensors, [])).toEqual([{ start: 0, length: 20 }]);
  });

  it.each(['topk', 'scalecom', 'dgc', 'dct'])(
    'gives %s entries by layer',
    async (id) => {
      const length = 2000;
      const world = new SimulatedWorld({
        method: id,
        parameters: { ratio: 0.05, layers: 'small=1 sparse=0.002' },
        ranks: 2,
        length,
        tensors: [
          layer('first', 0, 400),
          layer('small', 400, 10),
          layer('sparse', 410, 1000),
          layer('last', 1410, 590),
        ],
        makeKernels: (arena) => backends.wasm(arena).kernels,
      });
      const gradients = [bellShaped(length, 1), bellShaped(length, 2)];
      await world.exchange(0, gradients);
      // 5 % of 400 and of 590 to the nearest, all of 10, 0.2 % of 1000.
      expect(
        Math.abs(world.statistics[0]!.nnzLocal! - (20 + 10 + 2 + 29.5)),
      ).toBeLessThan(1);
      if (id === 'scalecom') return;
      const residual = world.residual(0);
      const sent = (from: number, to: number): number =>
        residual.subarray(from, to).filter((value) => value === 0).length;
      expect([sent(0, 400), sent(400, 410), sent(410, 1410)]).toEqual([20, 10, 2]);
    },
  );
});

const warming = [...methods.values()].filter(
  ({ parameters }) => 'warmupIterations' in parameters.shape,
);

describe.each(warming)('the warm-up of $id', ({ id: method, residual }) => {
  const length = 2000;
  const worldOf = (warmupIterations: number): SimulatedWorld =>
    new SimulatedWorld({
      method,
      parameters: { warmupIterations },
      ranks: 2,
      length,
      tensors: [{ name: 'w', start: 0, length, shape: [40, 50] }],
      makeKernels: (arena) => backends.wasm(arena).kernels,
    });
  const gradients = (iteration: number): Float32Array[] => [
    bellShaped(length, 2 * iteration + 1),
    bellShaped(length, 2 * iteration + 2),
  ];

  it('averages exactly, and leaves nothing behind', async () => {
    const world = worldOf(3);
    for (let iteration = 0; iteration < 3; iteration++) {
      const [a, b] = gradients(iteration);
      const [result] = await world.exchange(iteration, [a!, b!]);
      expect(result).toEqual(a!.map((x, i) => Math.fround(x + b![i]!) * 0.5));
      expect(world.sent[0]!.length).toBe(4 * length);
    }
    const [, b] = await world.exchange(3, gradients(3));
    const fresh = await worldOf(0).exchange(3, gradients(3));
    expect(b).toEqual(fresh[1]);
  });

  if (residual === 'none') return;

  it('sends what a residual held before', async () => {
    const before = worldOf(0);
    await before.exchange(0, gradients(0));
    const residuals = [before.residual(0), before.residual(1)];
    const world = worldOf(5);
    world.restore(before.save());
    const zero = new Float32Array(length);
    const [result] = await world.exchange(1, [zero, zero]);
    expect(result).toEqual(
      residuals[0]!.map((x, i) => Math.fround(x + residuals[1]![i]!) * 0.5),
    );
    expect(world.residual(0)).toEqual(zero);
  });
});
