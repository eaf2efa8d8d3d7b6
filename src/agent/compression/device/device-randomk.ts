/**
 * `randomk` on the GPU. The lot is drawn on the host, k numbers of it go to the device
 * and the values at them come back.
 */
import type { StreamName } from '../../kernels/random.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Region } from '../../memory/arena.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import { requireBytes } from '../payload-check.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from '../policy/ratio-schedule.ts';
import { LOT_PURPOSE } from '../randomk.ts';
import { noState, requireNoState } from '../stateless.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import { SharedIndicesOnDevice } from './device-shared-indices.ts';

interface Parameters extends RatioSchedule {
  readonly k: number;
  readonly warmupIterations: number;
}

const METHOD = 'randomk';

export const randomkOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const { length, parameters } = typed;
  const { k } = parameters;
  const capacity = entriesSent(length, { ratio: largestRatio(parameters), k });
  if (!isBindable(typed, capacity)) return undefined;
  return withDeviceWarmUp(typed, () => new RandomKOnDevice(typed, capacity));
};

class RandomKOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  readonly #residual: GpuVector;
  readonly #shared: SharedIndicesOnDevice;
  /** The iteration whose indices lie in memory. */
  #drawn = -1;

  constructor(context: DeviceContext<Parameters>, capacity: number) {
    const { residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${METHOD} without a residual`);
    }
    this.#context = context;
    this.#residual = residual;
    this.#shared = new SharedIndicesOnDevice(context, capacity);
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { elementwise } = this.#context.device;
    this.#draw(iteration);
    elementwise.add(this.#residual, gradient);
    const payload = this.#shared.gather(this.#residual);
    elementwise.clearAt(this.#residual, this.#shared.stream);
    return await payload;
  }

  decode(combined: Combined, out: GpuVector, iteration: number): ExchangeStatistics {
    this.#draw(iteration);
    return this.#shared.scatterAverage(combined, out);
  }

  parse(data: Region, iteration: number): Payload {
    this.#draw(iteration);
    const { payload } = this.#shared;
    requireBytes(METHOD, data, payload.data.bytes);
    return { ...payload, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(METHOD, state);
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }

  #draw(iteration: number): void {
    if (iteration === this.#drawn) return;
    const { kernels, length, parameters, seed, bucket } = this.#context;
    const { k } = parameters;
    const count = entriesSent(length, { ratio: ratioAt(parameters, iteration), k });
    // No rank in the name: the lot is the same for all.
    const name: StreamName = { seed, bucket, iteration, purpose: LOT_PURPOSE };
    this.#shared.resize(count);
    kernels.sparsification.drawIndices(length, count, name, this.#shared.region);
    this.#shared.upload();
    this.#drawn = iteration;
  }
}
