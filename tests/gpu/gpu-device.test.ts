/** What lies under the kernels: vectors in parts, the ring that reads, a device that goes. */
import { describe, expect, test } from 'vitest';
import { DeviceKernels } from '../../src/agent/kernels/webgpu/device-kernels.ts';
import {
  openGpuDevice,
  shareGpuDevice,
} from '../../src/agent/kernels/webgpu/gpu-device.ts';
import {
  sliceOf,
  windowsOf,
  type GpuVector,
} from '../../src/agent/kernels/webgpu/gpu-vector.ts';
import { hasGpu } from '../harness/webgpu.ts';
import { hasVulkan } from './vulkan.ts';

const buffer = (label: string) => ({ label }) as unknown as GPUBuffer;

function vectorOf(label: string, ...lengths: readonly number[]): GpuVector {
  return {
    length: lengths.reduce((sum, length) => sum + length, 0),
    parts: lengths.map((length, index) => ({
      buffer: buffer(`${label}${index}`),
      offset: 0,
      length,
    })),
  };
}

describe('vectors in parts', () => {
  test('a slice names the bytes of its parts', () => {
    const { parts } = sliceOf(vectorOf('x', 10, 10, 10), 8, 13);
    const places = parts.map(({ buffer, offset, length }) => [
      buffer.label,
      offset,
      length,
    ]);
    expect(places).toEqual([
      ['x0', 32, 2],
      ['x1', 0, 10],
      ['x2', 0, 1],
    ]);
    expect(sliceOf(vectorOf('x', 10), 10, 0).parts).toEqual([]);
    expect(() => sliceOf(vectorOf('x', 10), 8, 3)).toThrow(/internal/);
  });

  test('windows end where any part does, or at the limit', () => {
    const x = vectorOf('x', 6, 4);
    const y = sliceOf(vectorOf('y', 3, 9), 1, 10);
    const windows = [...windowsOf([x, y], 3)].map(({ first, length, parts }) => [
      first,
      length,
      ...parts.map(({ buffer, offset }) => `${buffer.label}+${offset}`),
    ]);
    expect(windows).toEqual([
      [0, 2, 'x0+0', 'y0+4'],
      [2, 3, 'x0+8', 'y1+0'],
      [5, 1, 'x0+20', 'y1+12'],
      [6, 3, 'x1+0', 'y1+16'],
      [9, 1, 'x1+12', 'y1+28'],
    ]);
    expect(() => [...windowsOf([x, vectorOf('z', 9)])]).toThrow(/internal/);
  });
});

describe.skipIf(!hasVulkan)('a device', () => {
  test('reads more than the ring holds, several vectors at once, each its own', async () => {
    using gpu = await openGpuDevice();
    // Each takes two of four buffers.
    const n = 1_500_001;
    const vectors = [1, 2, 3].map((factor) => {
      const vector = gpu.allocateVector(n);
      gpu.write(
        vector,
        Float32Array.from({ length: n }, (_, i) => factor * i),
      );
      return vector;
    });
    const read = vectors.map(() => new Float32Array(n));
    await Promise.all(vectors.map((vector, i) => gpu.read(vector, read[i]!)));
    for (const [index, values] of read.entries()) {
      const wrong = values.findIndex((x, i) => x !== Math.fround((index + 1) * i));
      expect(wrong).toBe(-1);
    }
  });

  test('allocates zeros, in parts, and refuses what no buffer can hold', async () => {
    using gpu = await openGpuDevice({ partElements: 64 });
    const vector = gpu.allocateVector(150);
    expect(vector.parts.map(({ length }) => length)).toEqual([64, 64, 22]);
    const values = new Float32Array(150).fill(1);
    await gpu.read(vector, values);
    expect(values.every((x) => x === 0)).toBe(true);
    expect(() => gpu.allocate(2 ** 50)).toThrow(
      expect.objectContaining({ code: 'GPU_MEMORY' }),
    );
    expect(() => gpu.vectorIn(vector.parts[2]!.buffer, 23)).toThrow(/internal/);
  });

  test('that is lost reports it to every read', async () => {
    using gpu = await openGpuDevice();
    const vector = gpu.allocateVector(100);
    gpu.device.destroy();
    await expect(gpu.read(vector, new Float32Array(100))).rejects.toMatchObject({
      code: 'GPU_LOST',
    });
  });

  test.skipIf(hasGpu)('in software is asked once in a millisecond', async () => {
    using gpu = await openGpuDevice();
    using kernels = new DeviceKernels(gpu);
    const vector = gpu.allocateVector(500_000);
    const paced = globalThis.setImmediate;
    let asked = 0;
    globalThis.setImmediate = new Proxy(paced, {
      apply(target, self, given) {
        asked++;
        return Reflect.apply(target, self, given) as unknown;
      },
    });
    try {
      const start = performance.now();
      for (let i = 0; i < 20; i++) kernels.elementwise.scale(vector, 0.5);
      await gpu.read(vector, new Float32Array(500_000));
      // However slow the machine is, it is no more.
      expect(asked).toBeLessThanOrEqual(performance.now() - start + 10);
      expect(asked).toBeGreaterThan(1);
    } finally {
      globalThis.setImmediate = paced;
    }
    gpu.release(vector);
  });

  test('leaves the immediates of others alone', async () => {
    using gpu = await openGpuDevice();
    gpu.check();
    expect(setImmediate(() => undefined).constructor.name).toBe('Immediate');
    await new Promise<void>((resolve) => {
      expect(setImmediate(resolve).constructor.name).toBe('Immediate');
    });
  });

  test('of another owner is left open', async () => {
    using own = await openGpuDevice();
    const shared = shareGpuDevice(own.device);
    shared.close();
    const values = new Float32Array(4);
    const vector = own.allocateVector(4);
    own.write(vector, Float32Array.of(1, 2, 3, 4));
    await own.read(vector, values);
    expect([...values]).toEqual([1, 2, 3, 4]);
  });
});
