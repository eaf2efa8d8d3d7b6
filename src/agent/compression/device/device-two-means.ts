/**
 * `a2sgd` on the GPU: all means in one journey there and back, and the shift by their
 * averages, one pass over memory each.
 */
import type { Region } from '../../memory/arena.ts';
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { Communicate, ExchangeStatistics } from '../method.ts';
import { requireBytes } from '../payload-check.ts';
import { noState, requireNoState } from '../stateless.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';

interface Parameters {
  readonly mode: 'allreduce' | 'allgather';
  readonly granularity: 'bucket' | 'tensor';
}

export const a2sgdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  return typed.parameters.mode === 'allgather'
    ? new GatheredTwoMeansOnDevice(typed)
    : new TwoMeansOnDevice(typed);
};

class TwoMeansOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  readonly #groups: readonly { readonly start: number; readonly length: number }[];
  readonly #region: Region;
  /** What was sent: μ₊, μ₋ of each group, as the f32 that travel. */
  readonly #local: Float32Array;

  constructor(context: DeviceContext<Parameters>) {
    const { arena, length, parameters, tensors } = context;
    this.#context = context;
    this.#groups =
      parameters.granularity === 'tensor' ? tensors : [{ start: 0, length }];
    this.#local = new Float32Array(2 * this.#groups.length);
    this.#region = arena.allocate(this.#local.byteLength);
  }

  async encode(gradient: GpuVector): Promise<Payload> {
    const { device, length } = this.#context;
    const slices = this.#groups.map((group) =>
      sliceOf(gradient, group.start, group.length),
    );
    const means = await device.sums.twoMeans(slices);
    means.forEach(({ plus, minus }, index) => {
      this.#local[2 * index] = plus;
      this.#local[2 * index + 1] = minus;
    });
    const { offset } = this.#region;
    this.#scalars({ offset, bytes: this.#local.byteLength }).set(this.#local);
    const data = { offset, bytes: this.#local.byteLength };
    return { kind: 'scalars', length, data };
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    const { device, world } = this.#context;
    const sums = this.#sumsOf(combined);
    this.#groups.forEach(({ start, length }, index) => {
      const plus = sums[2 * index]! / world - this.#local[2 * index]!;
      const minus = sums[2 * index + 1]! / world - this.#local[2 * index + 1]!;
      // Where the means agree g stays bit for bit; adding 0 would turn −0 into +0.
      if (plus !== 0 || minus !== 0) {
        device.elementwise.shiftBySign(sliceOf(out, start, length), plus, minus);
      }
    });
    return {};
  }

  parse(data: Region): Payload {
    requireBytes('a2sgd', data, this.#local.byteLength);
    return { kind: 'scalars', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState('a2sgd', state);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#region);
  }

  #sumsOf(combined: Combined): Float64Array {
    switch (combined.form) {
      case 'dense':
        return Float64Array.from(this.#scalars(combined.data));
      case 'gathered': {
        const sums = new Float64Array(this.#local.length);
        for (const { data } of combined.payloads) {
          this.#scalars(data).forEach((value, index) => {
            sums[index] = sums[index]! + value;
          });
        }
        return sums;
      }
      default:
        throw new Error(`internal: sums of means cannot be ${combined.form}`);
    }
  }

  #scalars({ offset }: Region): Float32Array {
    return this.#context.arena.f32({ offset, length: this.#local.length });
  }
}

/** The mode `allgather`. */
class GatheredTwoMeansOnDevice extends TwoMeansOnDevice {
  async exchange(
    gradient: GpuVector,
    _iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    const payload = await this.encode(gradient);
    return this.decode(await communicate({ operation: 'gather', payload }), gradient);
  }
}
