/**
 * Error feedback around a selection on the GPU whose values are quantised as well, as
 * `quantized-feedback.ts` is on the CPU. Selected, rounded and packed there, a payload is
 * read; what it stands for is then taken out of the residual, on the device again.
 */
import type { Region } from '../../memory/arena.ts';
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
} from '../../kernels/quantization.ts';
import type { GpuStream } from '../../kernels/webgpu/device-elementwise.ts';
import {
  wholeOf,
  type GpuPart,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import { unitWords } from '../../kernels/wgsl/quantization.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import { sentBy } from '../payload-check.ts';
import { checkQuantized, quantizedBytes, quantizedParts } from '../quantized-stream.ts';
import { noState, requireNoState } from '../stateless.ts';
import { NOISE_PURPOSE } from '../stochastic-codec.ts';
import type { SelectionOnDevice } from './device-feedback.ts';
import type { DeviceCompressor, DeviceContext } from './device-method.ts';

export class QuantizedFeedbackOnDevice implements DeviceCompressor {
  readonly #method: string;
  readonly #context: DeviceContext;
  readonly #selection: SelectionOnDevice;
  readonly #quantizer: Quantizer;
  readonly #residual: GpuVector;
  readonly #region: Region;
  readonly #scales: GPUBuffer;
  readonly #factors: GPUBuffer;
  readonly #units: GPUBuffer;
  readonly #codes: GPUBuffer;
  /** Entries that others sent. */
  readonly #indices: GPUBuffer;
  readonly #values: GPUBuffer;
  #sent = 0;

  /** `selection` is the compressor's from here on. */
  constructor(
    method: string,
    context: DeviceContext,
    selection: SelectionOnDevice,
    quantizer: Quantizer,
  ) {
    const { arena, device, residual } = context;
    if (residual === undefined) {
      throw new Error(`internal: ${method} without a residual`);
    }
    const { gpu } = device;
    const { capacity } = selection;
    this.#method = method;
    this.#context = context;
    this.#selection = selection;
    this.#quantizer = quantizer;
    this.#residual = residual;
    this.#region = arena.allocate(quantizedBytes(capacity, quantizer));
    const scaleBytes = 4 * runsOf(capacity, quantizer.bucket);
    this.#scales = gpu.allocate(scaleBytes);
    this.#factors = gpu.allocate(scaleBytes);
    this.#units = gpu.allocate(scaleBytes);
    this.#codes = gpu.allocate(packedBytes(capacity, codeBits(quantizer.levels)));
    this.#indices = gpu.allocate(4 * capacity);
    this.#values = gpu.allocate(4 * capacity);
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { arena, device, length } = this.#context;
    const { ring } = device.gpu;
    device.elementwise.add(this.#residual, gradient);
    const stream = await this.#selection.select(this.#residual, iteration, false);
    const { count } = stream;
    this.#round(stream, iteration);
    const { offset } = this.#region;
    const data = { offset, bytes: quantizedBytes(count, this.#quantizer) };
    const { indices, scales, codes } = quantizedParts(offset, count, this.#quantizer);
    arena.u32(offset, 1)[0] = count;
    await Promise.all([
      ring.read(stream.indices, 0, arena.u8(indices.offset, 4 * count)),
      ring.read(this.#scales, 0, arena.u8(scales.offset, 4 * scales.length)),
      ring.read(this.#codes, 0, arena.u8(codes.offset, codes.bytes)),
    ]);
    this.#decode(arena.f32(scales), codes.bytes, stream);
    device.elementwise.scatterAdd(this.#residual, stream, -1);
    this.#sent = count;
    return { kind: 'quantized', length, data };
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums here`);
    }
    const { device, world } = this.#context;
    device.elementwise.clear(out);
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        device.elementwise.scatterAdd(out, this.#upload(data), 1);
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) device.elementwise.scale(out, 1 / world);
    return { nnzLocal: this.#sent, ...this.#selection.statistics?.() };
  }

  parse(data: Region): Payload {
    this.#check(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return this.#selection.save?.() ?? noState();
  }

  restore(state: Uint8Array): void {
    if (this.#selection.restore === undefined) requireNoState(this.#method, state);
    else this.#selection.restore(state);
  }

  [Symbol.dispose](): void {
    const { arena, device } = this.#context;
    this.#selection[Symbol.dispose]();
    device.gpu.destroy(
      this.#scales,
      this.#factors,
      this.#units,
      this.#codes,
      this.#indices,
      this.#values,
    );
    arena.release(this.#region);
  }

  /** Scales and codes of the stream's values. */
  #round({ values, count }: GpuStream, iteration: number): void {
    const { seed, rank, bucket, device } = this.#context;
    const { gpu, quantization } = device;
    const quantizer = this.#quantizer;
    const x = gpu.vectorIn(values, count);
    const runs = runsOf(count, quantizer.bucket);
    const scales = partOf(this.#scales, runs);
    const factors = partOf(this.#factors, runs);
    const words = packedBytes(count, codeBits(quantizer.levels)) / 4;
    const codes = partOf(this.#codes, words);
    gpu.commands.clear(codes);
    quantization.scalesOf(x, quantizer, 'max', scales, factors);
    const noise = { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE };
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

  /** Values of the codes on the device, to the stream. */
  #decode(scales: Float32Array, codeBytes: number, { values, count }: GpuStream): void {
    const { gpu, quantization } = this.#context.device;
    const units = unitWords(scales, this.#quantizer.levels);
    gpu.commands.write(this.#units, 0, units);
    quantization.addStretch(
      gpu.vectorIn(values, count),
      0,
      count,
      this.#quantizer,
      partOf(this.#units, units.length),
      partOf(this.#codes, codeBytes / 4),
      false,
    );
  }

  /** The entries of a payload, on the device until the next. */
  #upload(data: Region): GpuStream {
    const { arena, device } = this.#context;
    const { commands } = device.gpu;
    const count = this.#check(data);
    const parts = quantizedParts(data.offset, count, this.#quantizer);
    const { indices, scales, codes } = parts;
    commands.write(this.#indices, 0, arena.u32(indices.offset, count));
    commands.write(this.#codes, 0, arena.u32(codes.offset, codes.bytes / 4));
    const stream = { indices: this.#indices, values: this.#values, count };
    this.#decode(arena.f32(scales), codes.bytes, stream);
    return stream;
  }

  #check(data: Region): number {
    const { arena, length } = this.#context;
    const { capacity } = this.#selection;
    return checkQuantized(this.#method, arena, data, this.#quantizer, length, capacity);
  }
}

const partOf = (buffer: GPUBuffer, length: number): GpuPart => ({
  ...wholeOf(buffer),
  length,
});
