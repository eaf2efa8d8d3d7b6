/**
 * Sections of stochastically rounded levels on the GPU, as `stochastic-codec.ts` defines
 * them: `qsgd`, whatever its scale and coding, and `terngrad`. Codes are packed on the
 * device; Elias codes are made of packed ones there. What arrives is checked on the host,
 * where Elias codes become packed ones again; values are computed on the device.
 */
import type { Region } from '../../memory/arena.ts';
import { clippedAt } from '../../kernels/fixed-point.ts';
import {
  codeBits,
  eliasCapacity,
  packedBytes,
  runsOf,
} from '../../kernels/quantization.ts';
import { takesStream } from '../../kernels/webgpu/device-elias.ts';
import { STRETCH } from '../../kernels/webgpu/device-quantization.ts';
import {
  wholeOf,
  type GpuPart,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import { STREAM_WORDS } from '../../kernels/wgsl/elias.ts';
import { unitWords } from '../../kernels/wgsl/quantization.ts';
import { bucketOf, levelsOf } from '../qsgd.ts';
import {
  NOISE_PURPOSE,
  StochasticCodec,
  type StochasticOptions,
} from '../stochastic-codec.ts';
import { WHOLE_TENSOR } from '../terngrad.ts';
import { isBindable } from './binding-limit.ts';
import { withDeviceWarmUp } from './device-dense.ts';
import type {
  CreateOnDevice,
  DeviceCompressor,
  DeviceContext,
} from './device-method.ts';
import {
  longestSection,
  SectionsOnDevice,
  type DeviceSectionCodec,
  type SectionTask,
} from './device-sections.ts';

interface Parameters {
  readonly minElements: number;
  readonly warmupIterations: number;
}

interface QsgdParameters extends Parameters {
  readonly bits: number;
  readonly levels: number;
  readonly bucket: number;
  readonly scale: 'max' | 'l2';
  readonly coding: 'packed' | 'elias';
  readonly form: 'auto' | 'sparse' | 'dense';
}

export const qsgdOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<QsgdParameters>;
  const { scale, coding, form } = typed.parameters;
  return sectionsOf('qsgd', typed, {
    levels: levelsOf(typed.parameters),
    bucket: bucketOf(typed.parameters),
    scale,
    coding: coding === 'packed' ? 'packed' : form,
  });
};

export const terngradOnDevice: CreateOnDevice = (context) => {
  const typed = context as DeviceContext<Parameters & { readonly clip: number }>;
  return sectionsOf('terngrad', typed, {
    levels: 1,
    bucket: WHOLE_TENSOR,
    scale: { clip: typed.parameters.clip },
    coding: 'packed',
  });
};

function sectionsOf(
  method: string,
  context: DeviceContext<Parameters>,
  options: StochasticOptions,
): DeviceCompressor | undefined {
  return withDeviceWarmUp(context, () => {
    const codec = StochasticOnDevice.create(method, context, options);
    return codec && SectionsOnDevice.create(method, context, codec);
  });
}

class StochasticOnDevice implements DeviceSectionCodec {
  readonly #context: DeviceContext<Parameters>;
  readonly #options: StochasticOptions;
  /** Checks what others send, and unpacks Elias codes. */
  readonly #codec: StochasticCodec;
  readonly #scales: GPUBuffer;
  readonly #factors: GPUBuffer;
  /** A stretch's codes, and its runs' units, on their way in. */
  readonly #codes: GPUBuffer;
  readonly #units: GPUBuffer;
  /** A section's packed codes on their way to a stream, and how long streams are. */
  readonly #packed: GPUBuffer | undefined;
  readonly #streams: GPUBuffer | undefined;
  /** Scales of sections whose gradient is clipped, by tensor. */
  #limits = new Map<number, number>();
  sizes?: (tasks: readonly SectionTask[]) => Promise<number[]>;
  prepare?: (tasks: readonly SectionTask[]) => Promise<void>;

  /** Undefined where a binding cannot hold a section's codes, or a stream is too long. */
  static create(
    method: string,
    context: DeviceContext<Parameters>,
    options: StochasticOptions,
  ): StochasticOnDevice | undefined {
    const longest = longestSection(context);
    const { levels, coding } = options;
    const words = packedBytes(longest, codeBits(levels)) / 4;
    if (!isBindable(context, words)) return undefined;
    if (coding !== 'packed' && !takesStream(eliasCapacity(longest, levels, coding))) {
      return undefined;
    }
    return new StochasticOnDevice(method, context, options, longest);
  }

  private constructor(
    method: string,
    context: DeviceContext<Parameters>,
    options: StochasticOptions,
    longest: number,
  ) {
    const { gpu } = context.device;
    const { levels, bucket, coding, scale } = options;
    this.#context = context;
    this.#options = options;
    this.#codec = new StochasticCodec(
      method,
      { ...context, residual: undefined },
      options,
    );
    this.#scales = gpu.allocate(4 * runsOf(longest, bucket));
    this.#factors = gpu.allocate(4 * runsOf(longest, bucket));
    const stretch = Math.min(longest, STRETCH);
    this.#codes = gpu.allocate(packedBytes(stretch, codeBits(levels)));
    this.#units = gpu.allocate(4 * (runsOf(stretch, bucket) + 1));
    if (coding !== 'packed') {
      this.#packed = gpu.allocate(packedBytes(longest, codeBits(levels)));
      this.#streams = gpu.allocate(4 * STREAM_WORDS * context.tensors.length);
      this.sizes = (tasks) => this.#sizesOf(tasks);
    }
    if (typeof scale === 'object') {
      this.prepare = (tasks) => this.#clip(tasks, scale.clip);
    }
  }

  capacity(n: number): number {
    return this.#codec.capacity(n);
  }

  *write({ x, index, iteration, payload, offset }: SectionTask): Generator<number> {
    const { seed, rank, bucket, device } = this.#context;
    const { commands } = device.gpu;
    const options = this.#options;
    const runs = runsOf(x.length, options.bucket);
    const scales = { ...wholeOf(this.#scales), length: runs };
    const factors = { ...wholeOf(this.#factors), length: runs };
    const limit = this.#limits.get(index);
    if (limit !== undefined) commands.write(this.#scales, 0, Float32Array.of(limit));
    const kind = typeof options.scale === 'object' ? 'given' : options.scale;
    device.quantization.scalesOf(x, options, kind, scales, factors);
    commands.copy(scales, payload, offset);
    const bits = codeBits(options.levels);
    const words = packedBytes(x.length, bits) / 4;
    const from = 4 * runs;
    const packed = this.#packed && { ...wholeOf(this.#packed), length: words };
    if (packed !== undefined) commands.clear(packed);
    const codes = packed ?? { buffer: payload, offset: offset + from, length: words };
    const purpose = NOISE_PURPOSE + index;
    const noise = { seed, rank, bucket, iteration, purpose };
    for (let first = 0; first < x.length;) {
      first += device.quantization.roundStretch(
        x,
        first,
        options,
        noise,
        scales,
        factors,
        codes,
      );
      if (packed === undefined) yield from + packedBytes(first, bits);
    }
    if (packed !== undefined && options.coding !== 'packed') {
      const capacity = eliasCapacity(x.length, options.levels, options.coding);
      device.elias.encode(
        packed,
        x.length,
        bits,
        options.coding,
        { buffer: payload, offset: offset + from, length: capacity / 4 },
        this.#streamOf(index),
      );
    }
  }

  measure(data: Region, n: number): number {
    return this.#codec.measure(data, n);
  }

  decode(data: Region, out: GpuVector, add: boolean): void {
    const { arena, device } = this.#context;
    const { commands } = device.gpu;
    const { levels, bucket } = this.#options;
    const bits = codeBits(levels);
    const { scales, codes } = this.#codec.partsOf(data, out.length);
    for (let first = 0; first < out.length; first += STRETCH) {
      const length = Math.min(STRETCH, out.length - first);
      const firstRun = Math.floor(first / bucket);
      const endRun = runsOf(first + length, bucket);
      const own = arena.f32(scales).slice(firstRun, endRun);
      commands.write(this.#units, 0, unitWords(own, levels));
      const words = packedBytes(length, bits) / 4;
      const from = codes.offset + packedBytes(first, bits);
      commands.write(this.#codes, 0, arena.u32(from, words));
      device.quantization.addStretch(
        out,
        first,
        length,
        this.#options,
        { ...wholeOf(this.#units), length: own.length },
        { ...wholeOf(this.#codes), length: words },
        add,
      );
    }
  }

  [Symbol.dispose](): void {
    const { gpu } = this.#context.device;
    gpu.destroy(this.#scales, this.#factors, this.#codes, this.#units);
    if (this.#packed !== undefined) gpu.destroy(this.#packed);
    if (this.#streams !== undefined) gpu.destroy(this.#streams);
    this.#codec[Symbol.dispose]();
  }

  /** Scales of sections that are clipped: the deviation is the host's to find. */
  async #clip(tasks: readonly SectionTask[], clip: number): Promise<void> {
    const sums = await this.#context.device.fixedSums.of(tasks.map(({ x }) => x));
    this.#limits = new Map(
      tasks.map(({ index }, i) => {
        const own = sums[i]!;
        return [index, clip === 0 ? own.largest : clippedAt(own.largest, clip, own)];
      }),
    );
  }

  /** Bytes of sections whose codes are streams. */
  async #sizesOf(tasks: readonly SectionTask[]): Promise<number[]> {
    const words = new Uint32Array(this.#streams!.size / 4);
    const { ring } = this.#context.device.gpu;
    await ring.read(this.#streams!, 0, new Uint8Array(words.buffer));
    return tasks.map(({ x, index }) => {
      const scales = 4 * runsOf(x.length, this.#options.bucket);
      return scales + packedBytes(words[STREAM_WORDS * index]!, 1);
    });
  }

  #streamOf(index: number): GpuPart {
    const offset = 4 * STREAM_WORDS * index;
    return { buffer: this.#streams!, offset, length: STREAM_WORDS };
  }
}
