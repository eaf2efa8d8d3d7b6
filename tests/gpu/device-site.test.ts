/**
 * Exchanges of gradients that lie on a GPU against exchanges of the same gradients in the
 * arena, two ranks each over real sockets: the same averages to the bit, whatever plan
 * follows which, and no more read back than payloads.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Communicate } from '../../src/agent/methods/method.ts';
import { findMethod, validateParameters } from '../../src/agent/methods/registry.ts';
import { ArenaSite } from '../../src/agent/sites/arena-site.ts';
import { DeviceSite } from '../../src/agent/sites/device-site.ts';
import { ExchangeEngine } from '../../src/agent/exchange/exchange-engine.ts';
import { GpuGradient } from '../../src/agent/sites/gpu-gradient.ts';
import type { GradientSite } from '../../src/agent/sites/gradient-site.ts';
import { compressReadBack } from '../../src/agent/sites/readback.ts';
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { Arena } from '../../src/agent/memory/arena.ts';
import type { Kernels } from '../../src/agent/kernels/kernels.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import {
  openGpuDevice,
  type GpuDevice,
} from '../../src/agent/kernels/webgpu/gpu-device.ts';
import { PhaseClock } from '../../src/agent/profile/phase-clock.ts';
import { connectMesh } from '../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../src/agent/transport/tcp-listener.ts';
import type { Transport } from '../../src/agent/transport/transport.ts';
import type { PlanSwitch } from '../../src/shared/plan/exchange-plan.ts';
import { bellShaped } from '../unit/kernels/adversarial-inputs.ts';
import { openInArena } from '../unit/methods/open-in-arena.ts';
import { backends } from '../unit/kernels/backends.ts';
import { expectSameBits } from './device-pair.ts';
import { DeviceTraffic } from './device-traffic.ts';
import { hasVulkan } from './vulkan.ts';

const P = 2;
/** Borders that fall on nothing. */
const TENSORS = [
  { name: 'w1', shape: [53, 31], start: 0, length: 1643 },
  { name: 'b1', shape: [31], start: 1643, length: 31 },
  { name: 'w2', shape: [31, 10], start: 1674, length: 310 },
  { name: 'b2', shape: [10], start: 1984, length: 10 },
];
const N = 1994;

/** A rank whose gradient is set and read by the test, wherever it lies. */
interface Rank extends Disposable {
  readonly engine: ExchangeEngine;
  put(values: Float32Array): void;
  get(): Promise<Float32Array>;
}

type Exchange = Record<string, unknown>;

describe.skipIf(!hasVulkan)('a gradient on a GPU', () => {
  let gpu: GpuDevice;
  let traffic: DeviceTraffic;
  const open: Transport[] = [];
  const ranks: Rank[] = [];

  beforeAll(async () => {
    gpu = await openGpuDevice();
    traffic = new DeviceTraffic(gpu.device);
  });
  afterEach(async () => {
    for (const rank of ranks.splice(0)) rank[Symbol.dispose]();
    await Promise.all(open.splice(0).map((transport) => transport.close()));
  });
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
    const device = await connectRanks(exchange, switches, true);
    const host = await connectRanks(exchange, switches, false);
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
      const device = await connectRanks(exchange, [kept], true);
      const host = await connectRanks(exchange, [kept], false);
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
    const device = await connectRanks(exchange, switches, true, {
      bindableBytes: 1024,
    });
    const host = await connectRanks(exchange, switches, false);
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
    const device = await connectRanks(exchange, [dropped], true);
    const host = await connectRanks(exchange, [dropped], false);
    for (let iteration = 0; iteration < 3; iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
    }
    // The tenth iteration after the residual was dropped; the first of one that is kept.
    expect(await normsOf(device, 10)).toEqual([undefined, undefined]);
    const onDevice = await normsOf(await connectRanks(exchange, [], true), 0);
    const inTheArena = await normsOf(await connectRanks(exchange, [], false), 0);
    for (const [rank, norm] of inTheArena.entries()) {
      expect(onDevice[rank]! / norm!).toBeCloseTo(1, 6);
    }
  });

  test('each rank’s gradient is clipped as in the arena, to the bit', async () => {
    const exchange = { method: 'topk', ratio: 0.02 };
    const clipped = { clipNorm: 20 };
    const device = await connectRanks(exchange, [], true, clipped);
    const host = await connectRanks(exchange, [], false, clipped);
    const unclipped = await connectRanks(exchange, [], false);
    for (let iteration = 0; iteration < 3; iteration++) {
      const expected = await step(host, iteration);
      expectSameBits(await step(device, iteration), expected, `iteration ${iteration}`);
      expect(await step(unclipped, iteration)).not.toEqual(expected);
    }
  });

  test('a device that is lost ends the exchange', async () => {
    const own = await openGpuDevice();
    const [first, second] = await connectRanks({ method: 'qsgd' }, [], true, {
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
    const host = await connectRanks(exchange, switches, false);
    // No binding holds the indices of more than 256 entries.
    const device = await connectRanks(exchange, switches, true, {
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
    const ranks = await connectRanks({ method: 'topk', ratio: 0.02 }, [], true);
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
    const [rank] = (await connectRanks({ method: 'topk', ratio: 0.02 }, [], true)) as [
      Rank,
      Rank,
    ];
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
    const ranks = await connectRanks(exchange, [], true);
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
    const ranks = await connectRanks({ method: 'qsgd', minElements: 0 }, [], true);
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

  async function connectRanks(
    exchange: Exchange,
    switches: readonly PlanSwitch[],
    onDevice: boolean,
    { device = gpu.device, bindableBytes = Infinity, clipNorm }: DeviceOptions = {},
  ): Promise<readonly Rank[]> {
    const secret = randomBytes(32);
    const listeners = await Promise.all(
      Array.from({ length: P }, () => listenTcp('127.0.0.1')),
    );
    const addresses = listeners.map(({ address }) => address);
    const connected = await Promise.all(
      listeners.map(async (listener, rank) => {
        const arena = new Arena();
        const clock = new PhaseClock();
        const transport = await connectMesh({
          listener,
          rank,
          addresses,
          runId: 'test',
          secret,
          timeoutMs: 20_000,
          observer: clock,
        });
        open.push(transport);
        const kernels = loadWasmKernels(arena);
        const shared = { arena, kernels, clock };
        const place = onDevice
          ? onGpu(shared, device, bindableBytes)
          : inArena(shared, arena.allocateVector(N).offset);
        const engine = new ExchangeEngine({
          ...shared,
          transport,
          tensors: TENSORS,
          site: place.site,
          seed: 1,
          plan: resolvePlan(exchange),
          switches,
          clipNorm,
        });
        return {
          ...place,
          engine,
          [Symbol.dispose]: () => {
            engine[Symbol.dispose]();
            place.close();
          },
        };
      }),
    );
    ranks.push(...connected);
    return connected;
  }

  function onGpu(shared: Shared, device: GPUDevice, bindableBytes: number): Place {
    const gradient = new GpuGradient(device, N, { bindableBytes });
    return {
      site: new DeviceSite({ ...shared, gradient }),
      put: (values) => {
        gradient.gpu.write(gradient.vector, values);
      },
      get: async () => {
        const values = new Float32Array(N);
        await gradient.gpu.read(gradient.vector, values);
        return values;
      },
      close: () => {
        gradient[Symbol.dispose]();
      },
    };
  }
});

interface DeviceOptions {
  readonly device?: GPUDevice;
  readonly bindableBytes?: number;
  /** The largest norm of a rank's own gradient; default: any. */
  readonly clipNorm?: number;
}

interface Shared {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly clock: PhaseClock;
}

interface Place extends Pick<Rank, 'put' | 'get'> {
  readonly site: GradientSite;
  close(): void;
}

function inArena(shared: Shared, offset: number): Place {
  const gradient = { offset, length: N };
  return {
    site: new ArenaSite({ ...shared, gradient }),
    put: (values) => {
      shared.arena.f32(gradient).set(values);
    },
    get: () => Promise.resolve(shared.arena.f32(gradient).slice()),
    close: () => undefined,
  };
}

const gradientOf = (rank: number, iteration: number): Float32Array =>
  bellShaped(N, 1 + rank + P * iteration);

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

/** One iteration of all ranks; their averages, which are equal. */
async function step(
  ranks: readonly Rank[],
  iteration: number,
  outcomes?: readonly string[],
): Promise<Float32Array> {
  const averages = await Promise.all(
    ranks.map(async ({ engine, put, get }, rank) => {
      const fences = await engine.fence(iteration);
      if (outcomes !== undefined && fences.length > 0) {
        expect(fences.map(({ state }) => state.outcome)).toEqual(outcomes);
      }
      put(gradientOf(rank, iteration));
      await engine.exchange(iteration, { lr: 0.1 / (1 + iteration) });
      return await get();
    }),
  );
  for (const average of averages) expectSameBits(average, averages[0]!, 'ranks');
  return averages[0]!;
}

/** Of each rank's residual, where it has one and the iteration tells it. */
async function normsOf(
  ranks: readonly Rank[],
  iteration: number,
): Promise<(number | undefined)[]> {
  for (const [index, { put }] of ranks.entries()) put(gradientOf(index, iteration));
  const results = await Promise.all(
    ranks.map(({ engine }) => engine.exchange(iteration)),
  );
  return results.map(({ residualNorm }) => residualNorm);
}
