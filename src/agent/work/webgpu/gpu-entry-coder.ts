/**
 * Entries with quantised values on a GPU: rounded and packed there, then the payload is read
 * back.
 */
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
} from '../../kernels/quantization.ts';
import type { RandomStream } from '../../kernels/random.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import {
  wholeOf,
  type BufferRange,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import { unitWords } from '../../kernels/wgsl/quantization.ts';
import type { Region, Vector } from '../../memory/arena.ts';
import {
  quantizedBytes,
  quantizedFields,
  type EntryCoder,
} from '../quantized-entries.ts';
import type { Entries } from '../selection.ts';
import { GpuEntries } from './gpu-entries.ts';
import type { GpuTools } from './gpu-tools.ts';

export class GpuEntryCoder implements EntryCoder<GpuVector> {
  readonly #work: GpuTools;
  readonly #quantizer: Quantizer;
  readonly #region: Region;
  readonly #scales: GPUBuffer;
  readonly #factors: GPUBuffer;
  readonly #units: GPUBuffer;
  readonly #codes: GPUBuffer;
  /** Received entries. */
  readonly #indices: GPUBuffer;
  readonly #values: GPUBuffer;

  /** @throws BeyondDevice where a binding cannot hold the indices */
  constructor(work: GpuTools, capacity: number, quantizer: Quantizer) {
    work.requireBindable(capacity);
    const scaleBytes = 4 * runsOf(capacity, quantizer.runLength);
    this.#work = work;
    this.#quantizer = quantizer;
    this.#region = work.region(quantizedBytes(capacity, quantizer));
    this.#scales = work.buffer(scaleBytes);
    this.#factors = work.buffer(scaleBytes);
    this.#units = work.buffer(scaleBytes);
    this.#codes = work.buffer(packedBytes(capacity, codeBits(quantizer.levels)));
    this.#indices = work.buffer(4 * capacity);
    this.#values = work.buffer(4 * capacity);
  }

  async encode(entries: Entries<GpuVector>, noise: RandomStream): Promise<Region> {
    if (!(entries instanceof GpuEntries)) {
      throw new Error('internal: entries that are not on the device');
    }
    const stream = entries.onDevice;
    const { count } = stream;
    const { arena, device } = this.#work;
    const { ring } = device.gpu;
    const { offset } = this.#region;
    const { indices, scales, codes } = quantizedFields(offset, count, this.#quantizer);
    this.#round(stream, noise);
    arena.u32(offset, 1)[0] = count;
    await Promise.all([
      ring.read(stream.indices, 0, arena.u8(indices.offset, 4 * count)),
      ring.read(this.#scales, 0, arena.u8(scales.offset, 4 * scales.length)),
      ring.read(this.#codes, 0, arena.u8(codes.offset, codes.bytes)),
    ]);
    this.#decode(scales, codes.bytes, stream);
    return { offset, bytes: quantizedBytes(count, this.#quantizer) };
  }

  addTo(out: GpuVector, data: Region, count: number): void {
    const { arena, device } = this.#work;
    const { commands } = device.gpu;
    const parts = quantizedFields(data.offset, count, this.#quantizer);
    const { indices, scales, codes } = parts;
    commands.write(this.#indices, 0, arena.u32(indices.offset, count));
    commands.write(this.#codes, 0, arena.u32(codes.offset, codes.bytes / 4));
    const stream = { indices: this.#indices, values: this.#values, count };
    this.#decode(scales, codes.bytes, stream);
    device.elementwise.scatterAdd(out, stream, 1);
  }

  /** Scales and codes of the stream's values. */
  #round({ values, count }: GpuStream, noise: RandomStream): void {
    const { gpu, quantization } = this.#work.device;
    const quantizer = this.#quantizer;
    const x = gpu.vectorIn(values, count);
    const runs = runsOf(count, quantizer.runLength);
    const scales = partOf(this.#scales, runs);
    const factors = partOf(this.#factors, runs);
    const words = packedBytes(count, codeBits(quantizer.levels)) / 4;
    const codes = partOf(this.#codes, words);
    gpu.commands.clear(codes);
    quantization.scalesOf(x, quantizer, 'max', scales, factors);
    for (let first = 0; first < count;) {
      first += quantization.roundStretch(
        x,
        first,
        quantizer,
        noise,
        scales,
        factors,
        codes,
      );
    }
  }

  /** Values of the codes on the device, to the stream; their scales are in the arena. */
  #decode(scales: Vector, codeBytes: number, { values, count }: GpuStream): void {
    const { arena, device } = this.#work;
    const units = unitWords(arena.f32(scales), this.#quantizer.levels);
    device.gpu.commands.write(this.#units, 0, units);
    device.quantization.addStretch(
      device.gpu.vectorIn(values, count),
      0,
      count,
      this.#quantizer,
      partOf(this.#units, units.length),
      partOf(this.#codes, codeBytes / 4),
      false,
    );
  }
}

const partOf = (buffer: GPUBuffer, length: number): BufferRange => ({
  ...wholeOf(buffer),
  length,
});
