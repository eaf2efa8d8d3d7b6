/**
 * The quantisers on the device against the CPU, as ranks of one world: in every iteration
 * the same payload bytes, the same averages, the same residual.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';
import { effort } from '../harness/effort.ts';
import { bellShaped, INPUTS, TELLING } from '../unit/kernels/adversarial-inputs.ts';
import { openWay, WAYS } from './device-pair.ts';
import { compareRanks, elementsOf, expectSamePayload, Rank } from './device-rank.ts';
import { hasVulkan } from './vulkan.ts';

/** One of each kind. */
const KINDS: readonly [string, JsonObject][] = [
  ['qsgd', { scale: 'l2', bits: 8, bucket: 5, minElements: 0 }],
  ['qsgd', { coding: 'elias', form: 'sparse', scale: 'l2', bits: 2, minElements: 0 }],
  ['terngrad', { minElements: 4 }],
  ['onebit', { minElements: 4 }],
  ['qgd', { minElements: 4 }],
  ['fp8', { minElements: 4, rounding: 'stochastic' }],
  ['topk', { ratio: 0.3, quantize: { bits: 4, bucket: 100 } }],
];
/** The other forms of a code, runs shorter than a thread's share, longer than everything. */
const VARIANTS: readonly [string, JsonObject][] = [
  ['qsgd', { scale: 'l2', levels: 100, bucket: 2 ** 20, minElements: 4 }],
  ['qsgd', { coding: 'elias', minElements: 4, warmupIterations: 1 }],
  ['qsgd', { coding: 'elias', form: 'dense', levels: 1000, minElements: 0 }],
  ['onebit', { bucket: 3, minElements: 0, warmupIterations: 1 }],
  ['onebit', { granularity: 'column', minElements: 0 }],
];
/** Tensors whose borders fall on nothing. */
const SHAPES = effort<readonly (readonly number[])[]>({
  quick: [[], [2], [3, 510], [511, 2, 9_494]],
  soak: [[], [0], [1], [2], [31], [512], [3, 510], [511, 2, 9_494]],
});

/** Of matrices: parts of squares, several of them, dense ones among them, more dimensions. */
const MATRICES = [
  [[0, 5], [33, 31], 2, [1, 40]],
  [
    [100, 65],
    [3, 3, 2, 7],
  ],
];

/** Several tiles and blocks of every kernel; at length more blocks than invocations. */
const MANY = effort({ quick: 70_003, soak: 2_200_003 });

const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let gpu: GpuDevice;
  beforeAll(async () => {
    gpu = await openWay(way);
  });
  afterAll(() => {
    gpu[Symbol.dispose]();
  });
  // The other ways change what kernels do with many elements, or with borders within.
  const usual = way.subgroups && !way.split;
  const matrices = MATRICES.slice(0, effort({ quick: 1, soak: 2 }));

  describe.each([...KINDS, ...VARIANTS])('%s %j', (id, parameters) => {
    const shapes = usual ? SHAPES : [way.split ? [3, 1_700] : [511, 2, 9_494]];
    test.each(shapes.map((shape) => [shape]))('tensors of %j', async (tensors) => {
      const n = tensors.reduce((sum, length) => sum + length, 0);
      await compareRanks(gpu, id, parameters, tensors, (seed) => bellShaped(n, seed));
    });

    const byColumn = parameters.granularity === 'column';
    test.each(byColumn ? matrices.map((tensors) => [tensors]) : [])(
      'matrices of %j',
      async (tensors) => {
        const n = elementsOf(tensors);
        await compareRanks(gpu, id, parameters, tensors, (seed) => bellShaped(n, seed));
      },
    );

    const isKind = KINDS.some(([, own]) => own === parameters);
    test.each(usual && isKind ? NAMES : [])('%s', async (name) => {
      const x = INPUTS[name]!(1033);
      await compareRanks(gpu, id, parameters, [700, 333], () => x, 1);
    });
  });

  test.each([
    ['qsgd', { scale: 'l2', coding: 'elias' }],
    ['terngrad', {}],
    ['onebit', {}],
  ] as [string, JsonObject][])('many elements, %s', async (id, parameters) => {
    const x = bellShaped(usual ? MANY : 40_003);
    const right = new Rank(0, id, parameters, [x.length]);
    const made = new Rank(0, id, parameters, [x.length], gpu);
    expectSamePayload(
      id,
      made.bytes(await made.encode(x, 5)),
      right.bytes(await right.encode(x, 5)),
    );
    made.compressor[Symbol.dispose]();
  });

  const long = [2 ** 18, 300, 5];
  test.each(usual ? [[long]] : [])('of %j is read as it grows', async (tensors) => {
    // A megabyte is worth a journey; the rest goes behind it.
    const x = bellShaped(2 ** 18 + 305);
    const parameters = { minElements: 2 ** 20 };
    const right = new Rank(0, 'qsgd', parameters, tensors);
    const made = new Rank(0, 'qsgd', parameters, tensors, gpu);
    expectSamePayload(
      'qsgd',
      made.bytes(await made.encode(x, 0)),
      right.bytes(await right.encode(x, 0)),
    );
    made.compressor[Symbol.dispose]();
  });

  // A part of several tiles, which begins in the middle of a word of codes or signs.
  test.each(way.split ? KINDS : [])('parts of 4,160: %s %j', async (id, own) => {
    using long = await openWay({ ...way, partElements: 4_160 });
    const n = 3 + 9_494;
    await compareRanks(long, id, own, [3, 9_494], (seed) => bellShaped(n, seed), 1);
  });

  test.each(usual ? KINDS : [])(
    'scales that end below 2⁻¹²⁶: %s %j',
    async (id, own) => {
      for (const exponent of [112, 120, 124, 127, 130, 140, 147]) {
        const gradientOf = (seed: number): Float32Array =>
          bellShaped(1033, seed).map((x) => x * 2 ** -exponent);
        await compareRanks(gpu, id, own, [700, 333], gradientOf, 2);
      }
    },
  );

  test.each(['sparse', 'dense'])('gaps longer than blocks, %s', async (form) => {
    const x = new Float32Array(40_003);
    for (const at of [3, 8_191, 8_192, 30_000, 30_001]) x[at] = at - 20_000.5;
    const parameters = { coding: 'elias', form, bucket: 1000 };
    await compareRanks(gpu, 'qsgd', parameters, [x.length], () => x, 1);
  });

  test('what no quantiser sent is refused before it is decoded', () => {
    const made = new Rank(0, 'onebit', { minElements: 0 }, [100], gpu);
    const { offset } = made.backend.arena.allocate(24);
    const means = { offset, length: 2 };
    made.backend.arena.f32(means).set([1, NaN]);
    expect(() => made.compressor.parse({ offset, bytes: 24 }, 0)).toThrow(/a mean is/);
    expect(() => made.compressor.parse({ offset, bytes: 20 }, 0)).toThrow(/early/);
    made.compressor[Symbol.dispose]();
  });
});
