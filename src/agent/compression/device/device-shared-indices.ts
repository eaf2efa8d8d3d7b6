/**
 * k indices that all ranks have in common, and the values at them, on the GPU: as
 * `shared-indices.ts`. Indices come from the arena, where a lot drew them or a broadcast
 * left them; values go there to be reduced, and come back to be scattered.
 */
import type { Region } from '../../memory/arena.ts';
import { sparseBytes } from '../../memory/entries.ts';
import type { IndexList } from '../../kernels/sparsification.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import type { DeviceContext } from './device-method.ts';

export class SharedIndicesOnDevice implements Disposable {
  /** In the arena: the indices at its start, the values of `count` entries behind them. */
  readonly region: Region;
  readonly #context: DeviceContext;
  readonly #indices: GPUBuffer;
  readonly #values: GPUBuffer;
  #count: number;

  /** @param capacity as many as a binding can hold, or fewer */
  constructor(context: DeviceContext, capacity: number) {
    const { arena, device } = context;
    this.#context = context;
    this.#indices = device.gpu.allocate(4 * capacity);
    this.#values = device.gpu.allocate(4 * capacity);
    this.region = arena.allocate(sparseBytes(capacity));
    this.#count = capacity;
  }

  /** The indices in the arena. */
  get list(): IndexList {
    return { offset: this.region.offset, count: this.#count };
  }

  /** Both on the device. */
  get stream(): GpuStream {
    return { indices: this.#indices, values: this.#values, count: this.#count };
  }

  /** The values in the arena, as they travel. */
  get payload(): Payload {
    const offset = this.region.offset + 4 * this.#count;
    const data = { offset, bytes: 4 * this.#count };
    return { kind: 'dense', length: this.#count, data };
  }

  /** There are `count` of them from here on, not more than there is memory for. */
  resize(count: number): void {
    if (sparseBytes(count) > this.region.bytes) {
      throw new Error(`internal: no memory for ${count} shared indices`);
    }
    this.#count = count;
  }

  /** Brings the arena's indices, all below n, to the device. */
  upload(): void {
    const { arena, device } = this.#context;
    const { offset, count } = this.list;
    device.gpu.commands.write(this.#indices, 0, arena.u32(offset, count));
  }

  /** Takes indices that are on the device already, to the arena as well. */
  async adopt({ indices, count }: GpuStream): Promise<void> {
    const { arena, device } = this.#context;
    const { commands, ring } = device.gpu;
    commands.copy({ buffer: indices, offset: 0, length: count }, this.#indices, 0);
    await ring.read(indices, 0, arena.u8(this.region.offset, 4 * count));
  }

  /** The values of `x` at the indices, in the arena when this resolves. */
  async gather(x: GpuVector): Promise<Payload> {
    const { arena, device } = this.#context;
    device.elementwise.gatherAt(x, this.stream);
    const { payload } = this;
    const { offset, bytes } = payload.data;
    await device.gpu.ring.read(this.#values, 0, arena.u8(offset, bytes));
    return payload;
  }

  /** out ← the values' average over ranks at the indices, 0 elsewhere. */
  scatterAverage(combined: Combined, out: GpuVector): ExchangeStatistics {
    if (combined.form !== 'dense') {
      throw new Error(`internal: values at shared indices cannot be ${combined.form}`);
    }
    const { arena, device, world } = this.#context;
    const sums = arena.u32(combined.data.offset, this.#count);
    device.gpu.commands.write(this.#values, 0, sums);
    device.elementwise.clear(out);
    device.elementwise.scatterAdd(out, this.stream, 1 / world);
    return { nnzLocal: this.#count, nnzReduced: this.#count };
  }

  [Symbol.dispose](): void {
    this.#context.device.gpu.destroy(this.#indices, this.#values);
    this.#context.arena.release(this.region);
  }
}
