/**
 * Worlds in which one rank has its gradients on a device, against the same world on CPUs
 * alone: every rank's averages and residuals, iteration by iteration, bit for bit. Above all
 * methods that talk more than once in an exchange, and state that is saved and goes on.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compressUploaded } from '../../src/agent/codec/uploaded.ts';
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { TensorSlice } from '../../src/agent/methods/method.ts';
import { openInArena } from '../unit/methods/open-in-arena.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import type { JsonObject } from '../../src/shared/checks/json.ts';
import { effort } from '../harness/effort.ts';
import { SimulatedWorld, type WorldOptions } from '../unit/methods/simulated-world.ts';
import { bellShaped, INPUTS, TELLING } from '../unit/kernels/adversarial-inputs.ts';
import { expectSameBits, openWay, WAYS } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

type Case = readonly [method: string, parameters: JsonObject];

/** Of several rounds. */
const EXCHANGES: readonly Case[] = [
  ['scalecom', { ratio: 0.02, selection: 'chunk' }],
  ['scalecom', { ratio: 0.3, selection: 'exact', beta: 1, warmupIterations: 1 }],
  ['scalecom', { ratio: 0.02, selection: 'chunk', chunk: 3000, beta: 0.3 }],
  ['powersgd', {}],
  ['powersgd', { rank: 5, warmStart: false, warmupIterations: 1 }],
  ['a2sgd', { mode: 'allgather', granularity: 'tensor' }],
];
/** With state beside the residual, or without. */
const STATES: readonly Case[] = [
  ['topk', { ratio: 0.02 }],
  ['dct', { ratio: 0.02, lifeSpan: 3 }],
  ['dgc', { ratio: 0.02, clip: 0.5 }],
  ['powersgd', { rank: 3 }],
  ['scalecom', { ratio: 0.05 }],
];
/** Whose payloads may be summed in part. */
const PARTIAL: readonly Case[] = [
  ['topk', { ratio: 0.02 }],
  ['threshold', { threshold: 2 }],
  ['dgc', { ratio: 0.02 }],
];
type Shapes = readonly (readonly number[])[];
const SHAPES: readonly Shapes[] = [
  [[]],
  [[1], [2]],
  [[31, 17], [513]],
  [[5, 3], [67, 129], [2], [7, 3, 5, 11]],
];
/** The last has eight parts of 320, borders of matrices and of parts anywhere. */
const SHAPES_IN_PARTS = effort({
  quick: [...SHAPES.slice(0, 3), [[5, 3], [17, 67], [2], [7, 3, 5, 11]]],
  soak: SHAPES,
});
/** Several tiles of every kernel, the last not full, and indices beyond 16 bits. */
const MANY = effort<Shapes>({ quick: [[250, 281], [3]], soak: [[1000, 1000], [3]] });
/** One of each kind. */
const LARGE: readonly Case[] = [
  ['gaussiank', { ratio: 0.001 }],
  ['dct', { ratio: 0.001 }],
  ['powersgd', {}],
];
const RANKS = 3;
const ON_DEVICE = 1;

const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let gpu: GpuDevice;
  beforeAll(async () => {
    gpu = await openWay(way);
  });
  afterAll(() => {
    gpu[Symbol.dispose]();
  });

  /** The same world twice: on CPUs, and with one rank on the device. */
  function worlds(
    [method, parameters]: Case,
    shapes: Shapes,
    ranks = RANKS,
    sums: Pick<WorldOptions, 'form' | 'most'> = {},
  ): [SimulatedWorld, SimulatedWorld] {
    const tensors = tensorsOf(shapes);
    const length = tensors.reduce((sum, tensor) => sum + tensor.length, 0);
    const options = {
      method,
      parameters,
      ranks,
      length,
      tensors,
      ...sums,
      makeKernels: loadWasmKernels,
    };
    const mixed = new SimulatedWorld({
      ...options,
      open: (opening) =>
        opening.context.rank === ON_DEVICE % ranks
          ? compressUploaded({ ...opening, gpu })
          : openInArena(opening),
    });
    return [new SimulatedWorld(options), mixed];
  }

  async function expectSameExchange(
    [right, made]: readonly [SimulatedWorld, SimulatedWorld],
    iteration: number,
    gradients: readonly Float32Array[],
  ): Promise<void> {
    const expected = await right.exchange(iteration, gradients);
    const actual = await made.exchange(iteration, gradients);
    for (const rank of gradients.keys()) {
      const what = `iteration ${iteration}, rank ${rank}`;
      expectSameBits(actual[rank]!, expected[rank]!, `${what}, average`);
      const difference = Buffer.compare(made.sent[rank]!, right.sent[rank]!);
      expect(difference, `${what}, payload`).toBe(0);
      if (!right.keepsResidual) continue;
      expectSameBits(made.residual(rank), right.residual(rank), `${what}, residual`);
    }
  }

  describe.each(EXCHANGES)('%s %j', (...of) => {
    const usual = way.split ? SHAPES_IN_PARTS : SHAPES;
    test.each(usual.map((shapes) => [shapes]))('tensors of %j', async (shapes) => {
      const pair = worlds(of, shapes);
      const n = tensorsOf(shapes).reduce((sum, { length }) => sum + length, 0);
      // Everybody leads once.
      for (let iteration = 0; iteration < RANKS + 1; iteration++) {
        await expectSameExchange(pair, iteration, gradientsOf(n, iteration));
      }
      for (const world of pair) world[Symbol.dispose]();
    });

    const inputs = way.subgroups && !way.split ? NAMES : [];
    test.each(inputs)('%s', async (name) => {
      const pair = worlds(of, [[30, 31], [103]]);
      const x = INPUTS[name]!(1033);
      for (let iteration = 0; iteration < 2; iteration++) {
        await expectSameExchange(
          pair,
          iteration,
          Array.from({ length: RANKS }, () => x),
        );
      }
      for (const world of pair) world[Symbol.dispose]();
    });
  });

  test.each(PARTIAL)('%s %j takes back what a sum leaves out', async (...of) => {
    const pair = worlds(of, [[40, 50], [333]], RANKS, { form: 'sparse', most: 11 });
    for (let i = 0; i < 4; i++) await expectSameExchange(pair, i, gradientsOf(2333, i));
    for (const world of pair) world[Symbol.dispose]();
  });

  test.each(PARTIAL)('%s %j takes a sum in several streams', async (...of) => {
    const pair = worlds(of, [[40, 50], [333]], RANKS, { form: 'streams' });
    for (let i = 0; i < 2; i++) await expectSameExchange(pair, i, gradientsOf(2333, i));
    for (const world of pair) world[Symbol.dispose]();
  });

  test.each(STATES)('%s %j goes on elsewhere', async (...of) => {
    const shapes = [[40, 50], [333]];
    const n = 2_333;
    const whole = worlds(of, shapes);
    for (let i = 0; i < 2; i++) await expectSameExchange(whole, i, gradientsOf(n, i));
    const [, later] = worlds(of, shapes);
    // Nothing is left of what it did before.
    await later.exchange(0, gradientsOf(n, 9));
    later.restore(await whole[1].save());
    for (let i = 2; i < 5; i++) {
      await expectSameExchange([whole[0], later], i, gradientsOf(n, i));
    }
    for (const world of [...whole, later]) world[Symbol.dispose]();
  });

  test.each(way.subgroups && !way.split ? LARGE : [])(
    'many elements, %s %j',
    async (...of) => {
      const pair = worlds(of, MANY, 1);
      const n = tensorsOf(MANY).reduce((sum, { length }) => sum + length, 0);
      await expectSameExchange(pair, 0, [bellShaped(n)]);
      for (const world of pair) world[Symbol.dispose]();
    },
  );
});

function gradientsOf(n: number, iteration: number): Float32Array[] {
  return Array.from({ length: RANKS }, (_, rank) =>
    bellShaped(n, 1 + rank + RANKS * iteration),
  );
}

function tensorsOf(shapes: Shapes): TensorSlice[] {
  let start = 0;
  return shapes.map((shape, index) => {
    const length = shape.reduce((product, n) => product * n, shape.length > 0 ? 1 : 0);
    start += length;
    return { name: `${index}`, start: start - length, length, shape };
  });
}
