/**
 * A synthetic gradient on the GPU: the bits that it has on the host, in layers that end
 * within a buffer's parts, and the same samples of what is applied.
 */
import { describe, expect, test } from 'vitest';
import { createTrainer } from '../../src/agent/training/create-trainer.ts';
import type { Trainer } from '../../src/agent/training/trainer.ts';
import { expectSameBits } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

const LAYERS = [70_001, 3, 12_500];

const open = (backend: 'wasm' | 'webgpu'): Promise<Trainer> =>
  createTrainer({
    model: 'synthetic-gradient',
    dataset: 'none',
    batchPerRank: 1,
    synthetic: { layers: LAYERS, computeMs: 1, distribution: 'normal', overlap: 0 },
    rank: 1,
    world: 2,
    seed: 3,
    backend,
    threads: 1,
    iterations: 4,
    optimizer: { kind: 'sgd', lr: 0.1, momentum: 0, schedule: 'constant' },
  });

describe.skipIf(!hasVulkan)('a synthetic gradient', () => {
  test('has the same bits on the GPU, and leaves the same weights', async () => {
    const host = await open('wasm');
    const onDevice = await open('webgpu');
    // It is where the engine wants it, and the record says so.
    expect([host.backend, onDevice.backend]).toEqual(['wasm', 'wasm']);
    expect([host.whyBackend, onDevice.whyBackend]).toEqual([
      undefined,
      expect.stringContaining('stays on the CPU'),
    ]);
    expect(host.openGpuGradient()).toBeUndefined();
    const gradient = onDevice.openGpuGradient()!;
    expect([onDevice.backend, onDevice.whyBackend]).toEqual(['webgpu', undefined]);
    expect(onDevice.device).not.toContain('synthetic');

    const [expected, actual] = [host, onDevice].map(
      ({ length }) => new Float32Array(length),
    ) as [Float32Array, Float32Array];
    for (let iteration = 0; iteration < 3; iteration++) {
      host.loadBatch(iteration);
      onDevice.loadBatch(iteration);
      await host.computeGradient(expected);
      await onDevice.computeGradient(gradient);
      await gradient.gpu.read(gradient.vector, actual);
      expectSameBits(actual, expected, `gradient ${iteration}`);
      await host.applyGradient(expected, iteration);
      await onDevice.applyGradient(gradient, iteration);
    }
    await host.readWeights(expected);
    await onDevice.readWeights(actual);
    expect(expected.some((weight) => weight !== 0)).toBe(true);
    expectSameBits(actual, expected, 'weights');
    gradient[Symbol.dispose]();
    host.close();
    onDevice.close();
  });
});
