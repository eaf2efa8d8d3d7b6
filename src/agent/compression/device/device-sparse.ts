/**
 * Error feedback around a selection on the GPU: `topk` of the whole bucket, and
 * `threshold`. The residual never leaves; what is selected is taken from it by the pass
 * that writes the stream.
 */
import type { Region } from '../../kernels/arena.ts';
import { sparseBytes } from '../../kernels/kernels.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { DeviceSelection } from '../../kernels/webgpu/device-selection.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, ExchangeStatistics, Payload } from '../method.ts';
import { parseSparse } from '../payload-check.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  type RatioSchedule,
} from '../policy/ratio-schedule.ts';
import { noState, requireNoState } from '../stateless.ts';
import { DeviceAverage } from './device-average.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';

interface TopKParameters extends RatioSchedule {
  readonly k: number;
  readonly bucket: number;
  readonly quantize: { readonly bits: number };
  readonly warmupIterations: number;
}

export const topkOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<TopKParameters>;
  const { length, parameters } = typed;
  const { bucket, k, quantize } = parameters;
  if (quantize.bits > 0 || (bucket > 0 && bucket < length)) return undefined;
  const capacity = entriesSent(length, { ratio: largestRatio(parameters), k });
  return withDeviceWarmUp(typed, () =>
    SparseOnDevice.create('topk', typed, capacity, (selection, p, iteration) =>
      selection.selectTopK(
        p,
        entriesSent(length, { ratio: ratioAt(parameters, iteration), k }),
        true,
      ),
    ),
  );
};

interface ThresholdParameters {
  readonly threshold: number;
  readonly warmupIterations: number;
}

export const thresholdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<ThresholdParameters>;
  const { threshold } = typed.parameters;
  return withDeviceWarmUp(typed, () =>
    SparseOnDevice.create('threshold', typed, typed.length, (selection, p) =>
      selection.selectAtLeast(p, threshold, true),
    ),
  );
};

/** Takes what is selected out of p. */
type Select = (
  selection: DeviceSelection,
  p: GpuVector,
  iteration: number,
) => GpuStream | Promise<GpuStream>;

class SparseOnDevice implements DeviceCompressor {
  readonly #method: string;
  readonly #context: DeviceContext;
  readonly #residual: GpuVector;
  readonly #select: Select;
  readonly #selection: DeviceSelection;
  readonly #average: DeviceAverage;
  readonly #region: Region;
  #sent = 0;

  /** Undefined where a binding cannot hold so many indices. */
  static create(
    method: string,
    context: DeviceContext,
    capacity: number,
    select: Select,
  ): SparseOnDevice | undefined {
    if (4 * capacity > context.device.gpu.bindableBytes) return undefined;
    return new SparseOnDevice(method, context, capacity, select);
  }

  private constructor(
    method: string,
    context: DeviceContext,
    capacity: number,
    select: Select,
  ) {
    const { arena, device, length, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    this.#method = method;
    this.#context = context;
    this.#residual = residual;
    this.#select = select;
    this.#selection = device.selection(length, capacity);
    this.#average = new DeviceAverage(context);
    this.#region = arena.allocate(sparseBytes(capacity));
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { arena, device, length } = this.#context;
    const { ring } = device.gpu;
    device.elementwise.add(this.#residual, gradient);
    const stream = await this.#select(this.#selection, this.#residual, iteration);
    const { count } = stream;
    const { offset } = this.#region;
    await Promise.all([
      ring.read(stream.indices, 0, arena.u8(offset, 4 * count)),
      ring.read(stream.values, 0, arena.u8(offset + 4 * count, 4 * count)),
    ]);
    this.#sent = count;
    return {
      kind: 'sparse',
      length,
      count,
      data: { offset, bytes: sparseBytes(count) },
    };
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    return { nnzLocal: this.#sent, ...this.#average.write(combined, out) };
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(this.#method, arena, data, length);
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(this.#method, state);
  }

  [Symbol.dispose](): void {
    this.#selection[Symbol.dispose]();
    this.#average[Symbol.dispose]();
    this.#context.arena.release(this.#region);
  }
}
