/** All of the gradient, from the GPU and back: `none`, and the warm-up of other methods. */
import type { Region } from '../../memory/arena.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { Communicate, ExchangeStatistics } from '../method.ts';
import { none } from '../none.ts';
import { isWarming, type WarmUp } from '../warm-up.ts';
import { requireBytes } from '../payload-check.ts';
import { noState, requireNoState } from '../stateless.ts';
import { DeviceAverage } from './device-average.ts';
import type { DeviceCompressor, DeviceContext } from './device-method.ts';

export class DeviceDense implements DeviceCompressor {
  readonly #context: DeviceContext;
  readonly #average: DeviceAverage;
  readonly #region: Region;

  constructor(context: DeviceContext) {
    this.#context = context;
    this.#average = new DeviceAverage(context);
    this.#region = context.arena.allocate(4 * context.length);
  }

  /** What a residual holds goes out with the gradient. */
  async encode(gradient: GpuVector): Promise<Payload> {
    const { arena, device, length, residual } = this.#context;
    if (residual !== undefined) {
      device.elementwise.add(gradient, residual);
      device.elementwise.clear(residual);
    }
    const { offset } = this.#region;
    await device.gpu.read(gradient, arena.f32({ offset, length }));
    return { kind: 'dense', length, data: { offset, bytes: 4 * length } };
  }

  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    return this.#average.write(combined, out);
  }

  parse(data: Region): Payload {
    const { length } = this.#context;
    requireBytes(none.id, data, 4 * length);
    return { kind: 'dense', length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(none.id, state);
  }

  [Symbol.dispose](): void {
    this.#average[Symbol.dispose]();
    this.#context.arena.release(this.#region);
  }
}

/** `make`'s compressor, from the iteration on at which the warm-up has ended. */
export function withDeviceWarmUp(
  context: DeviceContext<WarmUp>,
  make: () => DeviceCompressor | undefined,
): DeviceCompressor | undefined {
  const after = make();
  if (after === undefined || context.parameters.warmupIterations === 0) return after;
  const before = new DeviceDense(context);
  const at = (iteration: number): DeviceCompressor =>
    isWarming(context.parameters, iteration) ? before : after;
  const exchange = async (
    gradient: GpuVector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> => {
    if (at(iteration) === after) {
      return await after.exchange!(gradient, iteration, communicate);
    }
    const payload = await before.encode(gradient);
    const combined = await communicate({ operation: 'reduce', payload });
    return before.decode(combined, gradient);
  };
  const fetchState = async (): Promise<void> => {
    await after.fetchState!();
  };
  return {
    ...(after.exchange && { exchange }),
    ...(after.fetchState && { fetchState }),
    encode: (gradient, iteration) => at(iteration).encode(gradient, iteration),
    decode: (combined, out, iteration) =>
      at(iteration).decode(combined, out, iteration),
    parse: (data, iteration) => at(iteration).parse(data, iteration),
    save: () => after.save(),
    restore: (state) => {
      after.restore(state);
    },
    [Symbol.dispose]: () => {
      before[Symbol.dispose]();
      after[Symbol.dispose]();
    },
  };
}
