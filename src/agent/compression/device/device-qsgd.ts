/**
 * `qsgd` on the GPU: packed codes with the largest magnitude as the scale. Sections are
 * those of `sectioned-compressor.ts`. The payload is laid out on the device as it travels;
 * what is complete is read while the next stretch is being rounded.
 */
import type { Region } from '../../kernels/arena.ts';
import {
  codeBits,
  packedBytes,
  runsOf,
  type Quantizer,
} from '../../kernels/quantization.ts';
import { STRETCH } from '../../kernels/webgpu/device-quantization.ts';
import {
  sliceOf,
  wholeOf,
  windowsOf,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, ExchangeStatistics, Payload } from '../method.ts';
import { payloadInvalid } from '../payload-check.ts';
import { bucketOf, levelsOf } from '../qsgd.ts';
import { noState, requireNoState } from '../stateless.ts';
import { NOISE_PURPOSE, StochasticCodec } from '../stochastic-codec.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';

/** Bytes that are worth a journey of their own. */
const READ_BYTES = 2 ** 20;
const METHOD = 'qsgd';

interface Parameters {
  readonly bits: number;
  readonly levels: number;
  readonly bucket: number;
  readonly scale: 'max' | 'l2';
  readonly coding: 'packed' | 'elias';
  readonly minElements: number;
  readonly warmupIterations: number;
}

export const qsgdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters>;
  const { scale, coding } = typed.parameters;
  if (scale !== 'max' || coding !== 'packed') return undefined;
  return withDeviceWarmUp(typed, () => QsgdOnDevice.create(typed));
};

interface Section {
  /** First element. */
  readonly start: number;
  readonly length: number;
  readonly dense: boolean;
  /** First byte in the payload. */
  readonly offset: number;
  readonly bytes: number;
}

class QsgdOnDevice implements DeviceCompressor {
  readonly #context: DeviceContext<Parameters>;
  readonly #quantizer: Quantizer;
  readonly #sections: readonly Section[];
  readonly #bytes: number;
  readonly #region: Region;
  /** Checks what others send. */
  readonly #codec: StochasticCodec;
  readonly #payload: GPUBuffer;
  readonly #scales: GPUBuffer;
  readonly #factors: GPUBuffer;
  /** A stretch's codes, and its runs' units, on their way in. */
  readonly #codes: GPUBuffer;
  readonly #units: GPUBuffer;
  #dense: GpuVector | undefined;

  /** Undefined where a binding cannot hold the payload. */
  static create(context: DeviceContext<Parameters>): QsgdOnDevice | undefined {
    const quantizer = quantizerOf(context.parameters);
    const sections = sectionsOf(context, quantizer);
    const { offset, bytes } = sections.at(-1) ?? { offset: 0, bytes: 0 };
    if (offset + bytes > context.device.gpu.bindableBytes) return undefined;
    return new QsgdOnDevice(context, quantizer, sections, offset + bytes);
  }

  private constructor(
    context: DeviceContext<Parameters>,
    quantizer: Quantizer,
    sections: readonly Section[],
    bytes: number,
  ) {
    const { arena, device } = context;
    const { gpu } = device;
    this.#context = context;
    this.#quantizer = quantizer;
    this.#sections = sections;
    this.#bytes = bytes;
    this.#region = arena.allocate(bytes);
    this.#codec = new StochasticCodec(
      METHOD,
      { ...context, residual: undefined },
      { ...quantizer, scale: 'max', coding: 'packed' },
    );
    this.#payload = gpu.allocate(bytes);
    const longest = Math.max(
      0,
      ...sections.filter(({ dense }) => !dense).map(({ length }) => length),
    );
    this.#scales = gpu.allocate(4 * runsOf(longest, quantizer.bucket));
    this.#factors = gpu.allocate(4 * runsOf(longest, quantizer.bucket));
    const stretch = Math.min(longest, STRETCH);
    this.#codes = gpu.allocate(packedBytes(stretch, codeBits(quantizer.levels)));
    this.#units = gpu.allocate(4 * (runsOf(stretch, quantizer.bucket) + 1));
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { arena, device, length } = this.#context;
    const { offset } = this.#region;
    const reads: Promise<void>[] = [];
    let read = 0;
    const readUpTo = (end: number): void => {
      const into = arena.u8(offset + read, end - read);
      const part = device.gpu.ring.read(this.#payload, read, into);
      // What it throws comes out below.
      part.catch(() => undefined);
      reads.push(part);
      read = end;
    };
    device.gpu.commands.clear(wholeOf(this.#payload));
    for (const [index, section] of this.#sections.entries()) {
      for (const end of this.#write(gradient, section, index, iteration)) {
        if (end - read >= READ_BYTES) readUpTo(end);
      }
    }
    readUpTo(this.#bytes);
    await Promise.all(reads);
    return { kind: 'quantized', length, data: { offset, bytes: this.#bytes } };
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, before anything is written */
  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${METHOD} has no ${combined.form} sums`);
    }
    const { device, world } = this.#context;
    for (const { data } of combined.payloads) this.#check(data);
    for (const [rank, { data }] of combined.payloads.entries()) {
      for (const section of this.#sections) {
        this.#add(data, section, sliceOf(out, section.start, section.length), rank > 0);
      }
    }
    if (world > 1) device.elementwise.scale(out, 1 / world);
    return {};
  }

  parse(data: Region): Payload {
    this.#check(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(METHOD, state);
  }

  [Symbol.dispose](): void {
    const { arena, device } = this.#context;
    device.gpu.destroy(
      this.#payload,
      this.#scales,
      this.#factors,
      this.#codes,
      this.#units,
    );
    if (this.#dense !== undefined) device.gpu.release(this.#dense);
    this.#codec[Symbol.dispose]();
    arena.release(this.#region);
  }

  /** Enqueues a section's bytes; tells after each part up to where the payload is done. */
  *#write(
    gradient: GpuVector,
    section: Section,
    index: number,
    iteration: number,
  ): Generator<number> {
    const { seed, rank, bucket, device } = this.#context;
    const { commands } = device.gpu;
    const x = sliceOf(gradient, section.start, section.length);
    if (section.dense) {
      for (const { first, parts } of windowsOf([x])) {
        commands.copy(parts[0], this.#payload, section.offset + 4 * first);
      }
      yield section.offset + section.bytes;
      return;
    }
    const quantizer = this.#quantizer;
    const runs = runsOf(x.length, quantizer.bucket);
    const scales = { ...wholeOf(this.#scales), length: runs };
    const factors = { ...wholeOf(this.#factors), length: runs };
    device.quantization.scalesOf(x, quantizer, scales, factors);
    commands.copy(scales, this.#payload, section.offset);
    const offset = section.offset + 4 * runs;
    const codes = {
      buffer: this.#payload,
      offset,
      length: section.bytes / 4 - runs,
    };
    const purpose = NOISE_PURPOSE + index;
    const noise = { seed, rank, bucket, iteration, purpose };
    for (let first = 0; first < x.length;) {
      first += device.quantization.roundStretch(
        x,
        first,
        quantizer,
        noise,
        scales,
        factors,
        codes,
      );
      yield offset + packedBytes(first, codeBits(quantizer.levels));
    }
  }

  /** out ← out + the section's values, or the values alone. */
  #add(data: Region, section: Section, out: GpuVector, keep: boolean): void {
    const { arena, device } = this.#context;
    const { commands } = device.gpu;
    const offset = data.offset + section.offset;
    if (section.dense) {
      const values = arena.f32({ offset, length: section.length });
      if (keep) device.elementwise.add(out, this.#uploaded(values));
      else device.gpu.write(out, values);
      return;
    }
    const { levels, bucket } = this.#quantizer;
    const bits = codeBits(levels);
    const runs = runsOf(section.length, bucket);
    const scales = arena.f32({ offset, length: runs });
    for (let first = 0; first < section.length; first += STRETCH) {
      const length = Math.min(STRETCH, section.length - first);
      const firstRun = Math.floor(first / bucket);
      const endRun = runsOf(first + length, bucket);
      const units = scales.slice(firstRun, endRun).map((scale) => scale / levels);
      commands.write(this.#units, 0, units);
      const words = packedBytes(length, bits) / 4;
      const from = offset + 4 * runs + packedBytes(first, bits);
      commands.write(this.#codes, 0, arena.u32(from, words));
      device.quantization.addStretch(
        out,
        first,
        length,
        this.#quantizer,
        { ...wholeOf(this.#units), length: units.length },
        { ...wholeOf(this.#codes), length: words },
        keep,
      );
    }
  }

  /** Values of a dense section on the device, until the next call. */
  #uploaded(values: Float32Array): GpuVector {
    const { gpu } = this.#context.device;
    if (this.#dense === undefined) {
      const dense = this.#sections.filter(({ dense }) => dense);
      this.#dense = gpu.allocateVector(Math.max(...dense.map(({ length }) => length)));
    }
    const vector = sliceOf(this.#dense, 0, values.length);
    gpu.write(vector, values);
    return vector;
  }

  /** @throws GradwireError `PAYLOAD_INVALID` unless it is a payload of these sections */
  #check(data: Region): void {
    if (data.bytes !== this.#bytes) {
      throw payloadInvalid(METHOD, `${data.bytes} bytes, not ${this.#bytes}`);
    }
    for (const { dense, offset, bytes, length } of this.#sections) {
      if (!dense) this.#codec.measure({ offset: data.offset + offset, bytes }, length);
    }
  }
}

function quantizerOf(parameters: Parameters): Quantizer {
  return { levels: levelsOf(parameters), bucket: bucketOf(parameters) };
}

function sectionsOf(
  { parameters, tensors }: DeviceContext<Parameters>,
  { levels, bucket }: Quantizer,
): Section[] {
  let offset = 0;
  return tensors.map(({ start, length }) => {
    const dense = length < parameters.minElements;
    const bytes = dense
      ? 4 * length
      : 4 * runsOf(length, bucket) + packedBytes(length, codeBits(levels));
    const section = { start, length, dense, offset, bytes };
    offset += bytes;
    return section;
  });
}
