/**
 * The kernels on the device of jax-js, on an array that it computed: no copy through the
 * host, the same payload as on the CPU.
 */
import { describe, expect, test } from 'vitest';
import { BucketCompressor } from '../../src/agent/methods/bucket-compressor.ts';
import { ArenaWork } from '../../src/agent/work/arena/arena-work.ts';
import { GpuWork } from '../../src/agent/work/webgpu/gpu-work.ts';
import { findMethod, validateParameters } from '../../src/agent/methods/registry.ts';
import { shareGpuDevice } from '../../src/agent/kernels/webgpu/gpu-device.ts';
import { openJaxRuntime } from '../../src/agent/training/runtime/jax-runtime.ts';
import { backends } from '../unit/kernels/backends.ts';
import { bellShaped } from '../unit/kernels/adversarial-inputs.ts';
import { expectSameBits } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

const N = 5_000;

describe.skipIf(!hasVulkan)('an array of jax-js', () => {
  test('is compressed where it lies', async () => {
    const runtime = await openJaxRuntime({ backend: 'webgpu', threads: 1 });
    const { jax } = runtime;
    // Doubled there, so that it is no upload of ours.
    const array = jax.numpy.array(new Float32Array(bellShaped(N))).mul(2);
    const doubled = bellShaped(N).map((x) => 2 * x);
    using gpu = shareGpuDevice(jax.getWebGPUDevice());
    const gradient = gpu.vectorIn(await array.ref.gpuBuffer(), N);
    const { arena, kernels: cpu } = backends.wasm();
    const method = findMethod('topk');
    const context = {
      length: N,
      tensors: [{ name: 'x', start: 0, length: N, shape: [N] }],
      parameters: validateParameters(method, { ratio: 0.01 }),
      seed: 1,
      rank: 0,
      world: 1,
      bucket: 0,
    };
    const onGpu = new GpuWork(gpu, arena, cpu);
    using onDevice = new BucketCompressor({
      method,
      context: { ...context, work: onGpu, residual: onGpu.vector(N) },
      gradient,
    });
    const inArena = new ArenaWork(arena, cpu);
    const x = inArena.vector(N);
    arena.f32(x).set(doubled);
    using onHost = new BucketCompressor({
      method,
      context: { ...context, work: inArena, residual: inArena.vector(N) },
      gradient: x,
    });
    const expected = await onHost.encode(0);
    const actual = await onDevice.encode(0);
    expect(actual.data.bytes).toBe(expected.data.bytes);
    const words = ({ data }: typeof actual) => arena.u32(data.offset, data.bytes / 4);
    expectSameBits(words(actual), words(expected), 'payload');
    array.dispose();
    runtime.release();
  });
});
