/** The ratio's schedule, patterns of names, epochs, and the dense warm-up of every method that has one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inIterations } from '../../../src/agent/methods/policy/passes.ts';
import { fitsName } from '../../../src/shared/plan/name-pattern.ts';
import {
  largestRatio,
  ratioAt,
} from '../../../src/agent/methods/policy/ratio-schedule.ts';
import {
  findMethod,
  methods,
  validateParameters,
} from '../../../src/agent/methods/registry.ts';
import type { JsonObject } from '../../../src/shared/checks/json.ts';
import { bellShaped } from '../kernels/adversarial-inputs.ts';
import { backends } from '../kernels/backends.ts';
import { runs } from '../../harness/effort.ts';
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

  it.each([
    [
      'where the ramp does',
      { rampStart: 500 },
      [499, 500, 501, 502],
      [0.4, 0.4, 0.2, 0.1],
    ],
    // The warm-up of the first iterations is long over.
    [
      'alone, with a warm-up of before',
      { rampStart: 500, warmupIterations: 50 },
      [500, 501, 502],
      [0.4, 0.2, 0.1],
    ],
    [
      'behind a warm-up that begins there, too',
      { rampStart: 500, warmupStart: 500, warmupIterations: 50 },
      [500, 550, 551, 552],
      [0.4, 0.4, 0.2, 0.1],
    ],
    // A warm-up does not bring back a ramp that is over.
    [
      'where it did, when a warm-up is given later',
      { rampStart: 0, warmupStart: 500, warmupIterations: 50 },
      [500, 550, 600],
      [0.1, 0.1, 0.1],
    ],
  ])('begins %s', (_, starts, iterations, expected) => {
    const ramp = { ratio: 0.1, rampIterations: 2, rampFrom: 0.4, ...starts };
    expect(iterations.map((i) => ratioAt(ramp, i))).toEqual(expected);
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

describe('a pattern of names', () => {
  it.each([
    ['*.bias', 'layer1.bias', true],
    ['*.bias', 'layer1.biases', false],
    ['layer?', 'layer1', false],
    ['conv.1', 'conv.1', true],
    ['conv.1', 'convX1', false],
    ['a*c*e', 'abcde', true],
    ['a*c*e', 'ace', true],
    ['a*c*e', 'aec', false],
    ['aa*aa', 'aaa', false],
    ['a*b*b', 'ab', false],
    ['*', 'anything', true],
    ['**', '', true],
  ])('%s fits %s: %s', (pattern, name, fits) => {
    expect(fitsName(pattern, name)).toBe(fits);
  });

  it('fits what a regular expression would', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`);
        expect(fitsName(pattern, name)).toBe(expression.test(name));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe('lengths in epochs', () => {
  const method = findMethod('topk');
  const topk = (given: JsonObject): JsonObject => validateParameters(method, given);
  const converted = (
    parameters: JsonObject,
    given: JsonObject,
    perEpoch: number | undefined,
  ): JsonObject => inIterations(parameters, given, perEpoch, method.schedules);

  it('become iterations, rounded to whole ones', () => {
    const given = { warmupEpochs: 2, rampEpochs: 0.5 };
    expect(converted(topk(given), given, 46.875)).toMatchObject({
      warmupEpochs: 0,
      warmupIterations: 94,
      rampEpochs: 0,
      rampIterations: 23,
    });
  });

  it('leave iterations as they are where there are none', () => {
    const given = { warmupIterations: 7 };
    expect(converted(topk(given), given, undefined)).toEqual(topk(given));
  });

  it('replace the iterations of the plan before', () => {
    const both = topk({ warmupIterations: 7, warmupEpochs: 1 });
    const given = { warmupEpochs: 1 };
    expect(converted(both, given, 10)).toMatchObject({ warmupIterations: 10 });
  });

  it.each([
    [{ warmupEpochs: 1, warmupIterations: 5 }, 10, '"warmupIterations" is 5'],
    [{ rampEpochs: 1 }, undefined, '"rampEpochs" is 1, but without a data set'],
  ])('are refused: %j', (given, perEpoch, message) => {
    expect(() => converted(topk(given), given, perEpoch)).toThrow(
      expect.objectContaining({
        code: 'METHOD_PARAMETER_INVALID',
        kind: 'input',
        message: expect.stringContaining(message),
      }),
    );
  });
});

const warming = [...methods.values()].filter(
  ({ parameters }) => 'warmupIterations' in parameters.shape,
);

describe.each(warming)('the warm-up of $id', ({ id: method, residual, residualIf }) => {
  const length = 2000;
  const worldOf = (warmupIterations: number): SimulatedWorld =>
    new SimulatedWorld({
      method,
      parameters: {
        warmupIterations,
        ...(residualIf === undefined ? {} : { [residualIf]: true }),
      },
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
    world.restore(await before.save());
    const zero = new Float32Array(length);
    const [result] = await world.exchange(1, [zero, zero]);
    expect(result).toEqual(
      residuals[0]!.map((x, i) => Math.fround(x + residuals[1]![i]!) * 0.5),
    );
    expect(world.residual(0)).toEqual(zero);
  });
});
