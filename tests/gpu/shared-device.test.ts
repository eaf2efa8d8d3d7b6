/**
 * The kernels on the device of jax-js, on an array that it computed: no copy through the
 * host, the same payload as on the CPU.
 */
import { describe, expect, test } from 'vitest';
import { createOnDevice } from '../../src/agent/compression/device/device-registry.ts';
import {
  findMethod,
  validateParameters,
} from '../../src/agent/compression/registry.ts';
import { DeviceKernels } from '../../src/agent/kernels/webgpu/device-kernels.ts';
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
    using kernels = new DeviceKernels(gpu);
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
      arena,
      kernels: cpu,
    };
    const onDevice = createOnDevice(method.id, {
      ...context,
      device: kernels,
      residual: gpu.allocateVector(N),
    })!;
    const residual = arena.allocateVector(N);
    cpu.fill(residual, 0);
    const onHost = method.create({ ...context, residual });
    const x = arena.allocateVector(N);
    arena.f32(x).set(doubled);
    const expected = await onHost.encode(x, 0);
    const actual = await onDevice.encode(gradient, 0);
    expect(actual.data.bytes).toBe(expected.data.bytes);
    const words = ({ data }: typeof actual) => arena.u32(data.offset, data.bytes / 4);
    expectSameBits(words(actual), words(expected), 'payload');
    onDevice[Symbol.dispose]();
    array.dispose();
    runtime.release();
  });
});
