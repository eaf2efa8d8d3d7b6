/** 16-bit values on the device against the CPU's kernels, bit for bit. */
import { afterAll, beforeAll, describe, test } from 'vitest';
import { HALF_TYPES } from '../../src/agent/memory/value-type.ts';
import { INPUTS, TELLING } from '../unit/kernels/adversarial-inputs.ts';
import { backends } from '../unit/kernels/backends.ts';
import { expectSameBits, TestDevice, WAYS } from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

const NOISE = { seed: 3, rank: 1, bucket: 2, iteration: 4, purpose: 5 };
/** Around the borders of both types, and far below what either can hold. */
const BORDERS = [65_519.99, 65_520, -1e6, 3.396e38, 2 ** -14, 2 ** -25, -(2 ** -41)];

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let device: TestDevice;
  beforeAll(async () => {
    device = await TestDevice.open(way);
  });
  afterAll(() => {
    device.clear();
    device.kernels[Symbol.dispose]();
  });

  describe.each(HALF_TYPES)('%s', (type) => {
    test.each(TELLING)('%s', async (name) => {
      const { arena, kernels } = backends.wasm();
      for (const n of [1, 2, 1033, 2050]) {
        const x = INPUTS[name]!(n);
        BORDERS.forEach((value, i) => {
          if (7 * i < n) x[7 * i] = value;
        });
        const vector = arena.allocateVector(n);
        const words = Math.ceil(n / 2);
        const data = { ...arena.allocate(4 * words), bytes: 4 * words };
        for (const noise of [undefined, NOISE]) {
          arena.f32(vector).set(x);
          arena.u8(data.offset, data.bytes).fill(0);
          kernels.halfPrecision.narrow(type, vector, 1 / 3, data, noise);
          const expected = arena.u32(data.offset, words).slice();
          const buffer = device.gpu.allocate(4 * words);
          const codes = { buffer, offset: 0, length: words };
          device.gpu.commands.clear(codes);
          const on = device.put(x);
          device.kernels.halfPrecision.narrow(type, on, 1 / 3, codes, noise);
          const what = `${n} elements, ${noise === undefined ? 'to nearest' : 'at random'}`;
          expectSameBits(await device.words(buffer, words), expected, what);

          kernels.halfPrecision.widen(type, data, vector);
          device.kernels.halfPrecision.widen(type, codes, on);
          const values = new Uint32Array((await device.get(on)).buffer);
          expectSameBits(
            values,
            arena.u32(vector.offset, n).slice(),
            `${what}, values`,
          );
          device.gpu.destroy(buffer);
        }
        device.clear();
      }
    });
  });
});
