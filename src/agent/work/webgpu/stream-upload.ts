/**
 * Adds pairs from the arena to a vector on the GPU, a chunk at a time through its own
 * buffers: out[i] ← out[i] + factor · value.
 */
import type { Arena } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { streamIndexError } from '../../kernels/preconditions.ts';
import type { DeviceKernels } from '../../kernels/webgpu/device-kernels.ts';
import type { GpuVector } from '../../kernels/webgpu/gpu-vector.ts';

const CHUNK = 2 ** 20;

export class StreamUpload implements Disposable {
  readonly #device: DeviceKernels;
  readonly #arena: Arena;
  #pairs = 0;
  #indices: GPUBuffer | undefined;
  #values: GPUBuffer | undefined;

  constructor(device: DeviceKernels, arena: Arena) {
    this.#device = device;
    this.#arena = arena;
  }

  /**
   * @param streams no index is in two of them
   * @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE`, before anything is added
   */
  scatterAdd(out: GpuVector, streams: readonly SparseStream[], factor: number): void {
    let missing = 0;
    for (const { offset, count } of streams) {
      const indices = this.#arena.u32(offset, count);
      for (let i = 0; i < count; i++) {
        if (indices[i]! >= out.length) throw streamIndexError(indices[i]!, out.length);
      }
      missing += count;
    }
    const { commands } = this.#device.gpu;
    let filled = 0;
    for (const { offset, count } of streams) {
      const all = this.#arena.u32(offset, 2 * count);
      for (let at = 0; at < count;) {
        const [indices, values] = this.#reserve(Math.min(CHUNK, filled + missing));
        const size = Math.min(CHUNK - filled, count - at);
        commands.write(indices, 4 * filled, all.subarray(at, at + size));
        commands.write(values, 4 * filled, all.subarray(count + at, count + at + size));
        at += size;
        filled += size;
        missing -= size;
        if (filled < CHUNK && missing > 0) continue;
        const pairs = { indices, values, count: filled };
        this.#device.elementwise.scatterAdd(out, pairs, factor);
        filled = 0;
      }
    }
  }

  [Symbol.dispose](): void {
    if (this.#indices === undefined || this.#values === undefined) return;
    this.#device.gpu.destroy(this.#indices, this.#values);
  }

  #reserve(pairs: number): [GPUBuffer, GPUBuffer] {
    if (
      this.#indices === undefined ||
      this.#values === undefined ||
      this.#pairs < pairs
    ) {
      this[Symbol.dispose]();
      this.#pairs = Math.min(CHUNK, 2 * pairs);
      this.#indices = this.#device.gpu.allocate(4 * this.#pairs);
      this.#values = this.#device.gpu.allocate(4 * this.#pairs);
    }
    return [this.#indices, this.#values];
  }
}
