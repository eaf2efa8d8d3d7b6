/**
 * The WebGPU kernels against the reference, on every size and input of the matrix, with
 * subgroups and without, whole and split: the same bits from elementwise kernels and
 * selections; the same numbers to 1e-6 from reductions.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { effort } from '../harness/effort.ts';
import { backends, type Backend } from '../unit/kernels/backends.ts';
import { bellShaped, INPUTS, TELLING } from '../unit/kernels/adversarial-inputs.ts';
import {
  expectNear,
  expectSameBits,
  TestDevice,
  WAYS,
  type Way,
} from './device-pair.ts';
import { hasVulkan } from './vulkan.ts';

const SIZES = effort({
  quick: [0, 1, 513, 10_007],
  soak: [0, 1, 2, 31, 511, 512, 513, 10_007],
});

const NAMES = effort<readonly string[]>({ quick: TELLING, soak: Object.keys(INPUTS) });

/**
 * Several tiles of every kernel, the last not full, and indices beyond 16 bits; at length
 * more tiles than a histogram has workgroups.
 */
const MANY = effort({ quick: 70_003, soak: 4_300_003 });

/** No entry, one, a share, all but one, more than all; a share alone where others did. */
function counts(n: number, way: Way): Set<number> {
  const share = Math.ceil(n / 100);
  if (way.subgroups && !way.split && n < 1000) {
    return new Set([0, 1, share, Math.max(0, n - 1), n + 5]);
  }
  return new Set([share, Math.ceil(n / 2)]);
}

/** Around which roundings and denormals go wrong. */
const BOUNDARIES = Float32Array.of(
  ...[0, -0, 2 ** -149, 2 ** -126, 2 ** -126 - 2 ** -149, 2 ** -125, 3 * 2 ** -148],
  ...[2 ** -102, 2 ** -101, 2 ** -100, 2 ** -100 * (1 - 2 ** -24), 2 ** -77, 1.5],
  ...[2 ** -64, 2 ** 64, 3e38, 1 / 3, 0.7, 1e-38, 3e-39, 1e-20, 1e-23],
);

describe.skipIf(!hasVulkan).each(WAYS)('$name', (way) => {
  let device: TestDevice;
  beforeAll(async () => {
    device = await TestDevice.open(way);
  });
  afterEach(() => {
    device.clear();
  });
  afterAll(() => {
    device[Symbol.dispose]();
  });

  test('sums and products round as the CPU does, denormals and all', async () => {
    const values = [...BOUNDARIES, ...BOUNDARIES.map((x) => -x)];
    const pairs = values.flatMap((a) => values.map((b) => [a, b] as const));
    const a = Float32Array.from(pairs, ([value]) => value);
    const b = Float32Array.from(pairs, ([, value]) => value);
    const { elementwise } = device.kernels;
    const sum = device.put(a);
    elementwise.add(sum, device.put(b));
    expectSameBits(
      await device.get(sum),
      a.map((x, i) => x + b[i]!),
      'sums',
    );
    for (const factor of [1 / 3, 0.5, 1e-30, 2 ** -149, 2 ** -126, 7e-10, 1, -0.1]) {
      const scaled = device.put(a);
      elementwise.scale(scaled, factor);
      const factor32 = Math.fround(factor);
      expectSameBits(
        await device.get(scaled),
        a.map((x) => x * factor32),
        `products with ${factor}`,
      );
    }
  });

  // Of parts, four with a rest tell what thirty do.
  const sizes = way.split ? effort({ quick: [0, 1, 513, 1_033], soak: SIZES }) : SIZES;
  describe.each(sizes)('n = %i', (n) => {
    test.each(NAMES)('%s', async (name) => {
      const x = INPUTS[name]!(n);
      const reference = backends.reference();
      // What has no reductions in it does not know of subgroups.
      if (way.subgroups) await elementwise(reference, x);
      await reductions(reference, x);
      for (const k of counts(n, way)) await selection(reference, x, k);
    });
  });

  test('many elements', async () => {
    const x = bellShaped(way.split ? 10_007 : MANY);
    const reference = backends.reference();
    await selection(reference, x, 1000);
    await reductions(reference, x);
  });

  // More of them than a scan has invocations; of two tiles each.
  const parts = effort({ quick: [64], soak: [64, 4_160] });
  test.each(way.split ? parts : [])('parts of %i', async (partElements) => {
    using small = await TestDevice.open({ ...way, partElements });
    const x = bellShaped(300 * 64 + 5);
    const reference = backends.reference();
    const room = reference.arena.allocate(8 * 100);
    const right = reference.kernels.sparsification.selectTopK(
      reference.put(x),
      100,
      room,
    );
    using selection = small.kernels.selection(x.length, 100);
    const { indices } = selection.selectTopK(small.put(x), 100, false);
    expectSameBits(
      await small.words(indices, 100),
      reference.getStream(right).indices,
      'top 100',
    );
    await reductions(reference, x, small);
  });

  test('a NaN is found where it is, and an infinity', async () => {
    const x = bellShaped(10_007);
    const { elementwise } = device.kernels;
    const found = () => elementwise.firstNonFinite(device.put(x));
    expect(await found()).toBeUndefined();
    x[9_000] = -Infinity;
    expect(await found()).toEqual({ index: 9_000, value: -Infinity });
    x[777] = NaN;
    expect(await found()).toEqual({ index: 777, value: NaN });
  });

  async function elementwise(reference: Backend, x: Float32Array): Promise<void> {
    const { kernels } = reference;
    const { elementwise } = device.kernels;
    const y = bellShaped(x.length, 2);
    const made = [device.put(x), device.put(x), device.put(x), device.put(y)] as const;
    const right = [
      reference.put(x),
      reference.put(x),
      reference.put(x),
      reference.put(y),
    ] as const;
    elementwise.add(made[0], device.put(y));
    kernels.add(right[0], reference.put(y));
    elementwise.scale(made[1], 1 / 3);
    kernels.scale(right[1], 1 / 3);
    elementwise.shiftBySign(made[2], 0.1, -0.7);
    kernels.shiftBySign(right[2], 0.1, -0.7);
    elementwise.copy(made[3], device.put(x));
    kernels.copy(right[3], reference.put(x));
    for (const [i, what] of ['add', 'scale', 'shift', 'copy'].entries()) {
      expectSameBits(await device.get(made[i]!), reference.get(right[i]!), what);
    }
  }

  async function selection(
    reference: Backend,
    x: Float32Array,
    k: number,
  ): Promise<void> {
    const { kernels, arena } = reference;
    const n = x.length;
    const capacity = Math.min(k, n);
    const vector = reference.put(x);
    const right = kernels.sparsification.selectTopK(
      vector,
      k,
      arena.allocate(8 * capacity),
    );
    using selection = device.kernels.selection(n, n);
    const made = device.put(x);
    const stream = selection.selectTopK(made, k, false);
    expect(stream.count).toBe(right.count);
    const { indices, values } = reference.getStream(right);
    const what = `top ${k} of ${n}`;
    expectSameBits(await device.words(stream.indices, capacity), indices, what);
    expectSameBits(
      new Float32Array((await device.words(stream.values, capacity)).buffer),
      values,
      `${what}, values`,
    );
    const scattered = device.put(x);
    device.kernels.elementwise.scatterAdd(scattered, stream, 1 / 3);
    const target = reference.put(x);
    kernels.scatterAdd(target, right, 1 / 3);
    expectSameBits(await device.get(scattered), reference.get(target), 'scatter-add');
    kernels.clearAt(vector, right);
    const cleared = device.put(x);
    device.kernels.elementwise.clearAt(cleared, stream);
    expectSameBits(await device.get(cleared), reference.get(vector), 'clear');
    selection.selectTopK(made, k, true);
    expectSameBits(await device.get(made), reference.get(vector), 'what is left');
    await reaching(reference, x, capacity > 0 ? Math.abs(values[0]!) : 0.1);
  }

  async function reaching(
    reference: Backend,
    x: Float32Array,
    threshold: number,
  ): Promise<void> {
    const { kernels, arena } = reference;
    const n = x.length;
    const room = { offset: arena.allocate(8 * n).offset, capacity: n };
    const count = kernels.sparsification.appendAtLeast(
      reference.put(x),
      threshold,
      0,
      room,
      0,
      n,
    );
    using selection = device.kernels.selection(n, n);
    const stream = await selection.selectAtLeast(device.put(x), threshold, false);
    expect(stream.count).toBe(count);
    expectSameBits(
      await device.words(stream.indices, count),
      arena.u32(room.offset, count).slice(),
      `at least ${threshold}`,
    );
    expectSameBits(
      await device.words(stream.values, count),
      arena.u32(room.offset + 4 * n, count).slice(),
      `at least ${threshold}, values`,
    );
  }

  async function reductions(
    reference: Backend,
    x: Float32Array,
    on = device,
  ): Promise<void> {
    const vector = reference.put(x);
    const { sums } = on.kernels;
    const made = on.put(x);
    const right = reference.kernels.twoMeans(vector);
    const [means] = await sums.twoMeans([made]);
    expectNear(means!.plus, right.plus, 'mean of what is ≥ 0');
    expectNear(means!.minus, right.minus, 'mean of what is < 0');
    const { mean, variance } = await sums.moments(made);
    const moments = reference.kernels.moments(vector);
    // A mean of what cancels is as exact as the entries are large, and so is the variance.
    const size = Math.max(right.plus, right.minus);
    expect(Math.abs(mean - moments.mean)).toBeLessThanOrEqual(1e-9 * size);
    expect(Math.abs(variance - moments.variance)).toBeLessThanOrEqual(
      1e-6 * moments.variance + 1e-13 * size ** 2,
    );
  }
});
