/**
 * Every method of `golden-methods.ts` in a world in which one rank has its gradients on a
 * device, against the same world on CPUs alone: payloads, averages and residuals, bit for bit.
 * So a method that is new needs no entry here.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compressUploaded } from '../../src/agent/codec/uploaded.ts';
import { registerMethod } from '../../src/agent/methods/registry.ts';
import type { GpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import { GOLDEN, gradientsOf, HALVES, LENGTH } from '../unit/methods/golden-methods.ts';
import { striding } from '../integration/extending/striding.ts';
import { openInArena } from '../unit/methods/open-in-arena.ts';
import { SimulatedWorld } from '../unit/methods/simulated-world.ts';
import { expectSameBits, openWay } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

registerMethod(striding);
const METHODS = [
  ...GOLDEN.map(({ method, parameters, forms }) => ({
    method,
    parameters,
    form: forms[0]!,
  })),
  // One from outside, of which no file here knows.
  { method: striding.id, parameters: { stride: 3 }, form: 'dense' as const },
];
const RANKS = 3;
const ON_DEVICE = 1;

describe.skipIf(!hasVulkan)('one rank of three on a device', () => {
  let gpu: GpuDevice;
  beforeAll(async () => {
    gpu = await openWay({ subgroups: true, split: false });
  });
  afterAll(() => {
    gpu[Symbol.dispose]();
  });

  test.each(METHODS)('$method $parameters', async (of) => {
    const options = {
      ...of,
      ranks: RANKS,
      length: LENGTH,
      tensors: HALVES,
      makeKernels: loadWasmKernels,
    };
    using right = new SimulatedWorld(options);
    using made = new SimulatedWorld({
      ...options,
      open: (opening) =>
        opening.context.rank === ON_DEVICE
          ? compressUploaded({ ...opening, gpu })
          : openInArena(opening),
    });
    for (let iteration = 0; iteration < 4; iteration++) {
      const gradients = gradientsOf(RANKS, iteration);
      const expected = await right.exchange(iteration, gradients);
      const actual = await made.exchange(iteration, gradients);
      for (let rank = 0; rank < RANKS; rank++) {
        const what = `iteration ${iteration}, rank ${rank}`;
        expectSameBits(actual[rank]!, expected[rank]!, `${what}, average`);
        const difference = Buffer.compare(made.sent[rank]!, right.sent[rank]!);
        expect(difference, `${what}, payload`).toBe(0);
        if (!right.keepsResidual) continue;
        expectSameBits(made.residual(rank), right.residual(rank), `${what}, residual`);
      }
    }
  });
});
