/**
 * Pairs on their way from the arena to the GPU, a chunk at a time through buffers of
 * its own: out[i] ← out[i] + factor · value.
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

  /** @throws GradwireError `STREAM_INDEX_OUT_OF_RANGE`, before anything is added */
  scatterAdd(out: GpuVector, { offset, count }: SparseStream, factor: number): void {
    const all = this.#arena.u32(offset, 2 * count);
    for (let i = 0; i < count; i++) {
      if (all[i]! >= out.length) throw streamIndexError(all[i]!, out.length);
    }
    const { commands } = this.#device.gpu;
    for (let at = 0; at < count; at += CHUNK) {
      const size = Math.min(CHUNK, count - at);
      const [indices, values] = this.#reserve(size);
      commands.write(indices, 0, all.subarray(at, at + size));
      commands.write(values, 0, all.subarray(count + at, count + at + size));
      const stream = { indices, values, count: size };
      this.#device.elementwise.scatterAdd(out, stream, factor);
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
