/**
 * Exchanges of gradients that lie on a GPU against exchanges of the same gradients in the
 * arena, two ranks each over real sockets: the same averages to the bit, whatever plan
 * follows which, and no more read back than payloads.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  openGpuDevice,
  type GpuDevice,
} from '../../src/agent/kernels/webgpu/gpu-device.ts';
import type { Communicate } from '../../src/agent/methods/method.ts';
import { findMethod, validateParameters } from '../../src/agent/methods/registry.ts';
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { GpuGradient } from '../../src/agent/sites/gpu-gradient.ts';
import { compressReadBack } from '../../src/agent/sites/readback.ts';
import type { PlanSwitch } from '../../src/shared/plan/exchange-plan.ts';
import { bellShaped } from '../unit/kernels/adversarial-inputs.ts';
import { backends } from '../unit/kernels/backends.ts';
import { openInArena } from '../unit/methods/open-in-arena.ts';
import { expectSameBits } from './device-pair.ts';
import { DeviceTraffic } from './device-traffic.ts';
import {
  gradientOf,
  N,
  normsOf,
  P,
  SiteRanks,
  step,
  TENSORS,
  type Exchange,
  type Rank,
} from './site-ranks.ts';
import { hasVulkan } from './vulkan.ts';

describe.skipIf(!hasVulkan)('a gradient on a GPU', () => {
  let gpu: GpuDevice;
  let traffic: DeviceTraffic;
  let sites: SiteRanks;

  beforeAll(async () => {
    gpu = await openGpuDevice();
    traffic = new DeviceTraffic(gpu.device);
    sites = new SiteRanks(gpu.device);
  });
  afterEach(() => sites.leave());
  afterAll(() => {
    gpu.close();
  });

  test.each<[string, Exchange, readonly Exchange[]]>([
    ['none', { method: 'none', bucketBytes: 500 }, []],
    ['topk', { method: 'topk', ratio: 0.03, bucketBytes: 3000 }, []],
    ['qsgd', { method: 'qsgd', minElements: 100 }, []],
    ['scalecom, in several messages', { method: 'scalecom', ratio: 0.03 }, []],
    [
      'from one to another, residuals flushed',
      { method: 'topk', ratio: 0.02 },
      [
        { method: 'qsgd', minElements: 0 },
        { method: 'threshold', threshold: 1 },
        { method: 'none' },
      ],
    ],
    [
      'with a residual that is kept',
      { method: 'topk', ratio: 0.02 },
      [
        { method: 'threshold', threshold: 1.5 },
        { method: 'topk', ratio: 0.3 },
      ],
    ],
    [
      'with a residual in units of updates',
      { method: 'topk', ratio: 0.02, residualUnits: 'update' },
      [{ ratio: 0.01 }, { method: 'none' }],
    ],
    [
      'with methods by tensor',
      { method: 'topk', ratio: 0.05, layers: [{ match: 'b*', method: 'none' }] },
      [
        { method: 'topk', layers: [{ match: 'w1', method: 'qsgd' }] },
        { method: 'none', layers: [] },
      ],
    ],
  ])('%s: the bits of the arena', async (_, exchange, changes) => {
    const switches = changes.map((change, index) =>
      planSwitch(exchange, index, change),
    );
    const device = await sites.connect(exchange, switches, true);
    const host = await sites.connect(exchange, switches, false);
    for (let iteration = 0; iteration < 2 * (1 + changes.length); iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
    }
    expect(device.flatMap(({ engine }) => engine.takeNotices())).toEqual([]);
  });

  test.each<[string, Exchange, Exchange]>([
    ['dgc', { method: 'dgc', ratio: 0.03 }, { ratio: 0.03 }],
    ['dgc, at another ratio', { method: 'dgc', ratio: 0.03 }, { ratio: 0.1 }],
    ['dct', { method: 'dct', ratio: 0.03, band: 100 }, { lifeSpan: 999 }],
    ['powersgd', { method: 'powersgd', rank: 2 }, { rank: 2 }],
  ])(
    '%s keeps its state over a switch, with the bits of the arena',
    async (_, exchange, change) => {
      const kept = planSwitch(exchange, 0, change);
      const device = await sites.connect(exchange, [kept], true);
      const host = await sites.connect(exchange, [kept], false);
      for (let iteration = 0; iteration < 4; iteration++) {
        const expected = await step(host, iteration, ['kept']);
        expectSameBits(
          await step(device, iteration, ['kept']),
          expected,
          `iteration ${iteration}`,
        );
      }
    },
  );

  test('state moves between the device and what is read back from it', async () => {
    const exchange = { method: 'dgc', ratio: 0.02 };
    // No binding holds the indices of more than 256 entries: the second is read back.
    const switches = [{ ratio: 0.2 }, { ratio: 0.03 }].map((change, index) =>
      planSwitch(exchange, index, change),
    );
    const device = await sites.connect(exchange, switches, true, {
      bindableBytes: 1024,
    });
    const host = await sites.connect(exchange, switches, false);
    for (let iteration = 0; iteration < 6; iteration++) {
      const expected = await step(host, iteration, ['kept']);
      expectSameBits(
        await step(device, iteration, ['kept']),
        expected,
        `iteration ${iteration}`,
      );
    }
    const told = device[0]!.engine.takeNotices().map(({ code }) => code);
    expect(told).toEqual(['METHOD_NOT_ON_GPU']);
  });

  test('a residual is dropped there, and its norm is reported', async () => {
    const exchange = { method: 'topk', ratio: 0.02 };
    const dropped = planSwitch(exchange, 0, { method: 'none' }, 'drop');
    const device = await sites.connect(exchange, [dropped], true);
    const host = await sites.connect(exchange, [dropped], false);
    for (let iteration = 0; iteration < 3; iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
    }
    // The tenth iteration after the residual was dropped; the first of one that is kept.
    expect(await normsOf(device, 10)).toEqual([undefined, undefined]);
    const onDevice = await normsOf(await sites.connect(exchange, [], true), 0);
    const inTheArena = await normsOf(await sites.connect(exchange, [], false), 0);
    for (const [rank, norm] of inTheArena.entries()) {
      expect(onDevice[rank]! / norm!).toBeCloseTo(1, 6);
    }
  });

  test('each rank’s gradient is clipped as in the arena, to the bit', async () => {
    const exchange = { method: 'topk', ratio: 0.02 };
    const clipped = { clipNorm: 20 };
    const device = await sites.connect(exchange, [], true, clipped);
    const host = await sites.connect(exchange, [], false, clipped);
    const unclipped = await sites.connect(exchange, [], false);
    for (let iteration = 0; iteration < 3; iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
      expect(await step(unclipped, iteration)).not.toEqual(expected);
    }
  });

  test('a device that is lost ends the exchange', async () => {
    const own = await openGpuDevice();
    const [first, second] = await sites.connect({ method: 'qsgd' }, [], true, {
      device: own.device,
    });
    first!.put(gradientOf(0, 0));
    second!.put(gradientOf(1, 0));
    own.device.destroy();
    const exchanges = [first!, second!].map(({ engine }) => engine.exchange(0));
    for (const exchange of await Promise.allSettled(exchanges)) {
      expect(exchange).toMatchObject({
        status: 'rejected',
        reason: { code: 'GPU_LOST' },
      });
    }
    own.close();
  });

  test('what the device cannot do is read back, with the same bits, and reported', async () => {
    const exchange = { method: 'topk', ratio: 0.2 };
    const switches = [{ method: 'topk', k: 5 }, { method: 'none' }].map(
      (change, index) => planSwitch(exchange, index, change),
    );
    const host = await sites.connect(exchange, switches, false);
    // No binding holds the indices of more than 256 entries.
    const device = await sites.connect(exchange, switches, true, {
      bindableBytes: 1024,
    });
    const notices: string[] = [];
    for (let iteration = 0; iteration < 6; iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
      notices.push(...device[0]!.engine.takeNotices().map(({ message }) => message));
    }
    expect(notices).toEqual([
      'this GPU cannot run topk with these parameters: 1994 of 1994 elements are ' +
        'read back and compressed on the CPU',
    ]);
  });

  test('in several messages as well', async () => {
    const gradient = new GpuGradient(gpu.device, N);
    const method = findMethod('powersgd');
    const { arena, kernels } = backends.wasm();
    const context = {
      length: N,
      tensors: TENSORS,
      parameters: validateParameters(method, { rank: 2 }),
      seed: 1,
      rank: 0,
      world: 1,
      bucket: 0,
    };
    const home = gradient.gpu.allocateVector(N);
    const residual = arena.allocateVector(N);
    kernels.fill(residual, 0);
    const x = arena.allocateVector(N);
    const opening = { arena, kernels, method };
    using made = compressReadBack({
      ...opening,
      gpu: gradient.gpu,
      context,
      gradient: gradient.vector,
      residual: home,
    });
    using right = openInArena({
      ...opening,
      context: { ...context, residual },
      gradient: x,
    });
    const alone: Communicate = ({ payload }) =>
      Promise.resolve({ form: 'dense', data: payload.data });
    const values = new Float32Array(N);
    for (let iteration = 0; iteration < 3; iteration++) {
      gradient.gpu.write(gradient.vector, gradientOf(0, iteration));
      arena.f32(x).set(gradientOf(0, iteration));
      await made.exchange(iteration, alone);
      await right.exchange(iteration, alone);
      await gradient.gpu.read(gradient.vector, values);
      expectSameBits(values, arena.f32(x), 'average');
      await gradient.gpu.read(home, values);
      expectSameBits(values, arena.f32(residual), 'residual');
      // As for another learning rate, where it is kept.
      gradient.kernels.elementwise.scale(home, 0.5);
      kernels.scale(residual, 0.5);
    }
    gradient.gpu.release(home);
    gradient[Symbol.dispose]();
  });

  test('a NaN is named before anything is sent', async () => {
    const ranks = await sites.connect({ method: 'topk', ratio: 0.02 }, [], true);
    const [first, second] = ranks as [Rank, Rank];
    first.put(bellShaped(N));
    const bad = bellShaped(N);
    bad[1680] = NaN;
    second.put(bad);
    const waiting = first.engine.exchange(4);
    waiting.catch(() => undefined);
    const error = { code: 'GRADIENT_NOT_FINITE', rank: 1 };
    await expect(second.engine.exchange(4)).rejects.toMatchObject({
      ...error,
      message: 'the gradient of tensor w2 is NaN at element 6 in iteration 4',
    });
    second.engine.abort({ ...error, kind: 'failure', message: 'NaN' });
    await expect(waiting).rejects.toMatchObject({ rank: 1 });
  });

  test('payloads are all that comes back, and buffers stay as many as they are', async () => {
    const [rank] = (await sites.connect({ method: 'topk', ratio: 0.02 }, [], true)) as [
      Rank,
      Rank,
    ];
    const { connected: ranks } = sites;
    const others = ranks.slice(1);
    let mapped = 0;
    let live = 0;
    let payload = 0;
    for (let iteration = 0; iteration < 14; iteration++) {
      // What the first iterations allocate, and the residual's norm in the tenth, aside.
      if (iteration === 3) {
        mapped = traffic.mapped;
        live = traffic.liveBytes;
        payload = 0;
      }
      for (const [index, { put }] of ranks.entries()) put(gradientOf(index, iteration));
      const results = await Promise.all(
        [rank, ...others].map(({ engine }) => engine.exchange(iteration)),
      );
      for (const { bytes } of results) payload += bytes.payload;
      if (iteration === 9) {
        // Beside it eight bytes that say whether there was a NaN.
        expect(traffic.mapped - mapped).toBe(payload + 7 * P * 8);
        expect(payload).toBe(7 * P * 8 * 40);
      }
    }
    expect(traffic.liveBytes).toBe(live);
    for (const each of ranks.splice(0)) each[Symbol.dispose]();
    expect(traffic.liveBytes).toBe(0);
  });

  // Of both ranks: of each, one tells whether there was a NaN.
  test.each<[number, Exchange]>([
    [4, { method: 'none' }],
    [4, { method: 'topk', ratio: 0.03 }],
    [4, { method: 'topk', ratio: 0.03, bucket: 512 }],
    [8, { method: 'topk', ratio: 0.03, quantize: { bits: 4 } }],
    [4, { method: 'randomk', ratio: 0.03 }],
    [6, { method: 'threshold', threshold: 1.5 }],
    [6, { method: 'nonzero' }],
    [4, { method: 'blockcd' }],
    [8, { method: 'gaussiank', ratio: 0.03 }],
    [6, { method: 'dct', ratio: 0.5, band: 1000 }],
    [8, { method: 'dct', ratio: 0.5, lifeSpan: 1 }],
    [4, { method: 'dgc', ratio: 0.03 }],
    [6, { method: 'dgc', ratio: 0.03, clip: 1 }],
    // The indices of the leader alone.
    [5, { method: 'scalecom', ratio: 0.03 }],
    [9, { method: 'scalecom', ratio: 0.03, diagnosticsEvery: 1 }],
    [6, { method: 'powersgd' }],
    [4, { method: 'qsgd', minElements: 0 }],
    [12, { method: 'qsgd', minElements: 0, coding: 'elias' }],
    [6, { method: 'terngrad', minElements: 0 }],
    [4, { method: 'qgd', minElements: 0 }],
    [4, { method: 'onebit', minElements: 0 }],
    [4, { method: 'onebit', minElements: 0, granularity: 'column' }],
    [4, { method: 'a2sgd' }],
    [4, { method: 'a2sgd', granularity: 'tensor' }],
  ])('%d reads from the device make an exchange of %j', async (reads, exchange) => {
    const ranks = await sites.connect(exchange, [], true);
    const before: number[] = [];
    for (let iteration = 0; iteration < 2; iteration++) {
      for (const [index, { put }] of ranks.entries()) put(gradientOf(index, iteration));
      before.push(traffic.reads);
      await Promise.all(ranks.map(({ engine }) => engine.exchange(iteration)));
    }
    // The first exchange also allocates.
    expect(traffic.reads - before[1]!).toBe(reads);
  });

  test('time on the device counts for the phase that requested it', async () => {
    const ranks = await sites.connect({ method: 'qsgd', minElements: 0 }, [], true);
    for (let iteration = 0; iteration < 2; iteration++) {
      for (const [index, { put }] of ranks.entries()) put(gradientOf(index, iteration));
      const results = await Promise.all(
        ranks.map(({ engine }) => engine.exchange(iteration)),
      );
      for (const { profile } of results) {
        const { compress, decompress, other } = profile.phases;
        expect(compress).toBeGreaterThan(0);
        expect(decompress).toBeGreaterThan(0);
        expect(other).toBeLessThan(compress + decompress);
      }
    }
  });
});

/** Every second iteration another plan, told at launch. */
function planSwitch(
  exchange: Exchange,
  index: number,
  change: Exchange,
  residual: 'flush' | 'drop' = 'flush',
): PlanSwitch {
  const base = resolvePlan(exchange);
  const plan = resolvePlan(change, base);
  return { epoch: index + 1, notBefore: 2 * (index + 1), plan, residual };
}
