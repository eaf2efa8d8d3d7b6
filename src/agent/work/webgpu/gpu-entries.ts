/** Entries on a GPU, and their position in the arena once read back. */
import type {
  DeviceElementwise,
  GpuStream,
} from '../../kernels/webgpu/device-elementwise.ts';
import type { GpuDevice } from '../../kernels/webgpu/gpu-device.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { IndexList } from '../../kernels/sparsification.ts';
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../../memory/entries.ts';
import type { Entries, EntryRoom } from '../selection.ts';

/** The entries' positions on both sides. */
export interface EntryPlace {
  readonly gpu: GpuDevice;
  readonly elementwise: DeviceElementwise;
  readonly arena: Arena;
  readonly region: Region;
}

export class GpuEntries implements Entries<GpuVector> {
  readonly count: number;
  readonly #place: EntryPlace;
  readonly #stream: GpuStream;
  readonly #listed: boolean;

  /** @param listed whether the host has written the indices, so that they are in the arena */
  constructor(place: EntryPlace, stream: GpuStream, listed = false) {
    this.#listed = listed;
    this.#place = place;
    this.#stream = stream;
    this.count = stream.count;
  }

  /** Entries on the device. */
  get onDevice(): GpuStream {
    return this.#stream;
  }

  gather(x: GpuVector): void {
    this.#place.elementwise.gatherAt(x, this.#stream);
  }

  clearIn(x: GpuVector): void {
    this.#place.elementwise.clearAt(x, this.#stream);
  }

  addTo(out: GpuVector, factor: number): void {
    this.#place.elementwise.scatterAdd(out, this.#stream, factor);
  }

  setValues({ offset }: Vector): void {
    const { arena, gpu } = this.#place;
    gpu.commands.write(this.#stream.values, 0, arena.u32(offset, this.count));
  }

  async indices(): Promise<IndexList> {
    const { arena, gpu, region } = this.#place;
    const { offset } = region;
    if (this.#listed) return { offset, count: this.count };
    await gpu.ring.read(this.#stream.indices, 0, arena.u8(offset, 4 * this.count));
    return { offset, count: this.count };
  }

  async values(): Promise<Vector> {
    const { arena, gpu, region } = this.#place;
    const offset = region.offset + 4 * this.count;
    await gpu.ring.read(this.#stream.values, 0, arena.u8(offset, 4 * this.count));
    return { offset, length: this.count };
  }

  async stream(): Promise<SparseStream> {
    const { arena, gpu, region } = this.#place;
    const { count } = this;
    const { offset } = region;
    if (this.#listed) {
      await this.values();
      return { offset, count };
    }
    const { indices, values } = this.#stream;
    const into = arena.u8(offset, sparseBytes(count));
    await gpu.ring.readBoth([indices, values], 4 * count, into);
    return { offset, count };
  }
}

export class GpuEntryRoom implements EntryRoom<GpuVector> {
  readonly capacity: number;
  protected readonly place: EntryPlace;
  readonly #buffers: () => Pick<GpuStream, 'indices' | 'values'>;

  /** @param buffers on the device, for `capacity` entries */
  constructor(
    place: EntryPlace,
    capacity: number,
    buffers: () => Pick<GpuStream, 'indices' | 'values'>,
  ) {
    this.place = place;
    this.capacity = capacity;
    this.#buffers = buffers;
  }

  list(count: number): IndexList {
    const { region } = this.place;
    if (sparseBytes(count) > region.bytes) {
      throw new Error(`internal: no memory for ${count} entries`);
    }
    return { offset: region.offset, count };
  }

  named(count: number): GpuEntries {
    const { arena, gpu } = this.place;
    const { offset } = this.list(count);
    const buffers = this.#buffers();
    gpu.commands.write(buffers.indices, 0, arena.u32(offset, count));
    return new GpuEntries(this.place, { ...buffers, count }, true);
  }
}
