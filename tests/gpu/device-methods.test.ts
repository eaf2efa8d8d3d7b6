/**
 * Methods on the device against the same methods on the CPU, as ranks of one world: in
 * every iteration the same payload bytes, the same averages, the same residual.
 */
import { afterAll, beforeAll, describe, test } from 'vitest';
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';
import { effort } from '../harness/effort.ts';
import { bellShaped, INPUTS, TELLING } from '../unit/kernels/adversarial-inputs.ts';
import { HARD_SELECTIONS } from '../unit/methods/hard-selections.ts';
import { openWay, WAYS } from './device-pair.ts';
import { combine, compareRanks, expectSamePayload, Rank } from './device-rank.ts';
import { hasVulkan } from './vulkan.ts';

const METHODS: readonly [string, JsonObject][] = [
  ['none', {}],
  ['topk', { ratio: 0.05 }],
  ['topk', { k: 3, warmupIterations: 1 }],
  ['topk', { bucket: 512, k: 4 }],
  ['topk', { bucket: 7, ratio: 0.3 }],
  ['topk', { bucket: 3000, k: 5 }],
  ['randomk', { ratio: 0.05, warmupIterations: 1 }],
  ['threshold', { threshold: 0.8 }],
  ['gaussiank', { ratio: 0.02 }],
  ['dct', { ratio: 0.02, lifeSpan: 2 }],
  ['dct', { ratio: 0.1, band: 1.5 }],
  ['dgc', { ratio: 0.05, clip: 1, rampIterations: 2 }],
  ['dgc', { ratio: 0.05, momentum: 0.5, factorMasking: false }],
  ['a2sgd', { granularity: 'tensor' }],
  ['qsgd', { minElements: 4 }],
  ['qsgd', { bits: 2, minElements: 4, warmupIterations: 1 }],
  ['qsgd', { bits: 6, minElements: 4, warmupIterations: 1, errorFeedback: true }],
  ['fp8', { minElements: 4, errorFeedback: true }],
  ['qsgd', { bits: 8, bucket: 100, minElements: 4 }],
  ['qsgd', { bits: 3, bucket: 7, minElements: 0 }],
  ['qsgd', { levels: 1000, bucket: 5000, minElements: 4 }],
];
/** The first of each method. */
const KINDS = METHODS.filter(
  ([id], index) => METHODS.findIndex(([first]) => first === id) === index,
);
/** Tensors whose borders fall on nothing. */
const SHAPES = effort<readonly (readonly number[])[]>({
  quick: [[], [2], [3, 510], [511, 2, 9_494]],
  soak: [[], [1], [2], [31], [512], [3, 510], [511, 2, 9_494]],
});

/** Several tiles of every kernel, the last not full, and indices beyond 16 bits. */
const MANY = effort({ quick: 70_003, soak: 1_000_003 });

const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let gpu: GpuDevice;
  beforeAll(async () => {
    gpu = await openWay(way);
  });
  afterAll(() => {
    gpu[Symbol.dispose]();
  });

  const usual = way.subgroups && !way.split;
  const few = effort({ quick: KINDS, soak: METHODS });
  describe.each(usual ? METHODS : few)('%s %j', (id, parameters) => {
    // Methods see subgroups through kernels alone, which have tests of their own; parts
    // change what happens at borders.
    const others = way.split ? [[31], [3, 510], [511, 2, 1_700]] : [[511, 2, 9_494]];
    const shapes = usual ? SHAPES : others;
    test.each(shapes.map((shape) => [shape]))('tensors of %j', async (tensors) => {
      const n = tensors.reduce((sum, length) => sum + length, 0);
      await compareRanks(gpu, id, parameters, tensors, (seed) => bellShaped(n, seed));
    });

    const names = usual && few.some(([, own]) => own === parameters) ? NAMES : [];
    test.each(names)('%s', async (name) => {
      await compareRanks(gpu, id, parameters, [700, 333], () => INPUTS[name]!(1033), 1);
    });
  });

  test('means between two f32 are those of the CPU', async () => {
    // Whose sums hang on 2⁻⁵² of the largest, beyond what is added up on the device; a
    // quarter of them is in the middle of two f32, or a little above.
    const between = [1, 2 ** -24, 2 ** -52, 0];
    const below = between.map((x) => -x - 2 ** -60);
    for (const x of [between, [1, 2 ** -24, 0, 0], below, [...between, ...below]]) {
      const own = Float32Array.from(x);
      await compareRanks(gpu, 'a2sgd', {}, [own.length], () => own, 1);
    }
  });

  const hard = way.subgroups && !way.split ? Object.keys(HARD_SELECTIONS) : [];
  test.each(hard.map((name, index) => [index, name] as const))(
    '%i: gaussiank of %s',
    async (index, name) => {
      // Each input with one ratio, each ratio with a third of the inputs; at length all.
      const ratios = [0.02, 0.1, 0.5];
      const some = effort({ quick: ratios.slice(index % 3).slice(0, 1), soak: ratios });
      for (const ratio of some) {
        await compareRanks(gpu, 'gaussiank', { ratio }, [1000], () =>
          HARD_SELECTIONS[name]!(1000),
        );
      }
    },
  );

  test.each([
    ['topk', { ratio: 0.001 }],
    ['qsgd', {}],
  ] as [string, JsonObject][])('many elements, %s', async (id, parameters) => {
    const x = bellShaped(way.split ? 40_003 : MANY);
    const right = new Rank(0, id, parameters, [x.length]);
    const made = new Rank(0, id, parameters, [x.length], gpu);
    expectSamePayload(
      id,
      made.bytes(await made.encode(x, 5)),
      right.bytes(await right.encode(x, 5)),
    );
    made.compressor[Symbol.dispose]();
  });

  test('a residual that was saved goes on elsewhere', async () => {
    const parameters = { ratio: 0.02 };
    const tensors = [2_000];
    const whole = new Rank(0, 'topk', parameters, tensors, gpu);
    const first = new Rank(0, 'topk', parameters, tensors, gpu);
    const x = bellShaped(2_000);
    for (const rank of [whole, first]) {
      const payload = await rank.encode(x, 0);
      const combined = combine(rank.backend, [payload]);
      await rank.compressor.decode(combined, 0);
    }
    const second = new Rank(0, 'topk', parameters, tensors, gpu);
    second.compressor.restore(await first.compressor.save());
    second.backend.arena.f32(second.residual).set(first.backend.get(first.residual));
    expectSamePayload(
      'topk',
      second.bytes(await second.encode(x, 1)),
      whole.bytes(await whole.encode(x, 1)),
    );
    for (const { compressor } of [whole, first, second]) compressor[Symbol.dispose]();
  });
});
