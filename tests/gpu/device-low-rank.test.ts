/** Products with thin factors on the GPU against the CPU's: the same bits, however wide. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { DeviceLowRank } from '../../src/agent/kernels/webgpu/device-low-rank.ts';
import type { BufferRange } from '../../src/agent/kernels/webgpu/gpu-vector.ts';
import { bellShaped } from '../unit/kernels/adversarial-inputs.ts';
import { backends } from '../unit/kernels/backends.ts';
import { expectSameBits, TestDevice, WAYS } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let device: TestDevice;
  beforeAll(async () => {
    device = await TestDevice.open(way);
  });
  afterAll(() => {
    device[Symbol.dispose]();
  });

  /** Kernels need a factor in one piece. */
  function putFactor(values: Float32Array): BufferRange {
    const buffer = device.gpu.allocate(values.byteLength);
    device.gpu.commands.write(buffer, 0, values);
    return { buffer, offset: 0, length: values.length };
  }

  async function factorOf({ buffer, length }: BufferRange): Promise<Float32Array> {
    return new Float32Array((await device.words(buffer, length)).buffer);
  }

  test.each([
    { rows: 1, columns: 1, rank: 1 },
    { rows: 3, columns: 317, rank: 2 },
    { rows: 200, columns: 513, rank: 3 },
  ])('$rows × $columns, rank $rank', async ({ rows, columns, rank }) => {
    const values = bellShaped(rows * columns, 1);
    const left = bellShaped(rows * rank, 2);
    const cpu = backends.wasm();
    const { lowRank } = cpu.kernels;
    const onCpu = { offset: cpu.put(values).offset, rows, columns };
    const cpuLeft = cpu.put(left);
    const cpuRight = cpu.put(new Float32Array(columns * rank));
    lowRank.transposedTimesFactor(onCpu, cpuLeft, cpuRight);
    lowRank.timesFactor(onCpu, cpuRight, cpuLeft);
    lowRank.addProduct(onCpu, cpuLeft, cpuRight, -0.5);

    const elements = device.put(values);
    const onGpu = { elements, rows, columns };
    const gpuLeft = putFactor(left);
    const gpuRight = putFactor(new Float32Array(columns * rank).fill(NaN));
    using products = new DeviceLowRank(device.gpu, columns);
    products.transposedTimesFactor(onGpu, gpuLeft, gpuRight);
    expectSameBits(await factorOf(gpuRight), cpu.get(cpuRight), 'right');
    products.timesFactor(onGpu, gpuRight, gpuLeft);
    expectSameBits(await factorOf(gpuLeft), cpu.get(cpuLeft), 'left');
    products.addProduct(onGpu, gpuLeft, gpuRight, -0.5);
    const sum = cpu.get({ offset: onCpu.offset, length: rows * columns });
    expectSameBits(await device.get(elements), sum, 'sum');
    device.gpu.destroy(gpuLeft.buffer, gpuRight.buffer);
    device.clear();
  });

  test.skipIf(!way.subgroups || way.split)(
    'a factor of more elements than a dispatch has invocations',
    async () => {
      const [rows, columns] = [2, 65_536 * 64];
      const values = bellShaped(rows * columns, 1);
      const left = Float32Array.of(0.3, -1.7);
      const cpu = backends.wasm();
      const cpuRight = cpu.put(new Float32Array(columns));
      cpu.kernels.lowRank.transposedTimesFactor(
        { offset: cpu.put(values).offset, rows, columns },
        cpu.put(left),
        cpuRight,
      );
      const gpuLeft = putFactor(left);
      const gpuRight = putFactor(new Float32Array(columns));
      using products = new DeviceLowRank(device.gpu, columns);
      const matrix = { elements: device.put(values), rows, columns };
      products.transposedTimesFactor(matrix, gpuLeft, gpuRight);
      expectSameBits(await factorOf(gpuRight), cpu.get(cpuRight), 'right');
      device.gpu.destroy(gpuLeft.buffer, gpuRight.buffer);
      device.clear();
    },
  );
});
