/**
 * `a2sgd` on the GPU: all means in one journey there and back, and the shift by their
 * averages, one pass over memory each.
 *
 * A CPU adds up in f64, in an order of its own; the GPU's sums are right to 2⁻³⁸
 * (`wgsl/sums.ts`). Nearly always both round to the same f32. Where a mean is so close to
 * the middle of two that they might not, once in some thousands of times, its elements are read
 * back and the CPU's kernels decide: payloads are theirs to the bit.
 */
import type { Region } from '../../memory/arena.ts';
import type { TwoMeans } from '../../kernels/kernels.ts';
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import { requireBytes } from '../payload-check.ts';
import { noState, requireNoState } from '../stateless.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';

interface Parameters {
  readonly granularity: 'bucket' | 'tensor';
}

/** Twice what the GPU's sums may be off by, relative to them. */
const UNSURE = 2 ** -37;

export const a2sgdOnDevice: CreateOnDevice = (context) =>
  new TwoMeansOnDevice(context as DeviceContext<Parameters>);

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
    for (const [index, mean] of means.entries()) {
      const sure = isSure(mean.plus) && isSure(mean.minus);
      const { plus, minus } = sure ? mean : await this.#onCpu(slices[index]!);
      this.#local[2 * index] = plus;
      this.#local[2 * index + 1] = minus;
    }
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

  async #onCpu(x: GpuVector): Promise<TwoMeans> {
    const { arena, device, kernels } = this.#context;
    const region = arena.allocateVector(x.length);
    try {
      const vector = { offset: region.offset, length: x.length };
      await device.gpu.read(x, arena.f32(vector));
      return kernels.twoMeans(vector);
    } finally {
      arena.release(region);
    }
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

/** Whether a number this close to the GPU's mean rounds to the same f32. */
function isSure(mean: number): boolean {
  return Math.fround(mean * (1 - UNSURE)) === Math.fround(mean * (1 + UNSURE));
}
