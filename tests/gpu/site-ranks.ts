/**
 * Two ranks over real sockets, whose gradients lie on a GPU or in the arena; tests set and read them
 * wherever they lie.
 */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { ExchangeEngine } from '../../src/agent/exchange/exchange-engine.ts';
import type { Kernels } from '../../src/agent/kernels/kernels.ts';
import { loadWasmKernels } from '../../src/agent/kernels/wasm/load.ts';
import { Arena } from '../../src/agent/memory/arena.ts';
import { resolvePlan } from '../../src/agent/plan/resolve-plan.ts';
import { PhaseClock } from '../../src/agent/profile/phase-clock.ts';
import { ArenaSite } from '../../src/agent/sites/arena-site.ts';
import { DeviceSite } from '../../src/agent/sites/device-site.ts';
import { GpuGradient } from '../../src/agent/sites/gpu-gradient.ts';
import type { GradientSite } from '../../src/agent/sites/gradient-site.ts';
import { connectMesh } from '../../src/agent/transport/mesh.ts';
import { listenTcp } from '../../src/agent/transport/tcp-listener.ts';
import type { Transport } from '../../src/agent/transport/transport.ts';
import type { PlanSwitch } from '../../src/shared/plan/exchange-plan.ts';
import { bellShaped } from '../unit/kernels/adversarial-inputs.ts';
import { expectSameBits } from './device-pair.ts';

export const P = 2;
/** Borders that fall on nothing. */
export const TENSORS = [
  { name: 'w1', shape: [53, 31], start: 0, length: 1643 },
  { name: 'b1', shape: [31], start: 1643, length: 31 },
  { name: 'w2', shape: [31, 10], start: 1674, length: 310 },
  { name: 'b2', shape: [10], start: 1984, length: 10 },
];
export const N = 1994;

/** A rank whose gradient is set and read by the test, wherever it lies. */
export interface Rank extends Disposable {
  readonly engine: ExchangeEngine;
  put(values: Float32Array): void;
  get(): Promise<Float32Array>;
}

export type Exchange = Record<string, unknown>;

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

export class SiteRanks {
  /** The ranks that are connected. */
  readonly connected: Rank[] = [];
  readonly #device: GPUDevice;
  readonly #open: Transport[] = [];

  /** @param device has the gradients on a GPU, unless the ranks are given their own */
  constructor(device: GPUDevice) {
    this.#device = device;
  }

  async connect(
    exchange: Exchange,
    switches: readonly PlanSwitch[],
    onDevice: boolean,
    { device = this.#device, bindableBytes = Infinity, clipNorm }: DeviceOptions = {},
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
        this.#open.push(transport);
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
    this.connected.push(...connected);
    return connected;
  }

  /** For `afterEach`: every rank that was connected leaves. */
  async leave(): Promise<void> {
    for (const rank of this.connected.splice(0)) rank[Symbol.dispose]();
    await Promise.all(this.#open.splice(0).map((transport) => transport.close()));
  }
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

/** The gradient of a rank in an iteration. */
export const gradientOf = (rank: number, iteration: number): Float32Array =>
  bellShaped(N, 1 + rank + P * iteration);

/** One iteration of all ranks; their averages, which are equal. */
export async function step(
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

/** Norms of each rank's residual, where it has one and the iteration tells it. */
export async function normsOf(
  ranks: readonly Rank[],
  iteration: number,
): Promise<(number | undefined)[]> {
  for (const [index, { put }] of ranks.entries()) put(gradientOf(index, iteration));
  const results = await Promise.all(
    ranks.map(({ engine }) => engine.exchange(iteration)),
  );
  return results.map(({ residualNorm }) => residualNorm);
}
