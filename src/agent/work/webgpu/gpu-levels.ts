/**
 * Stochastically rounded levels on a GPU. Codes are packed there; Elias codes are made
 * from packed ones there, and received ones arrive packed.
 */
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
  type BufferRange,
  type GpuVector,
} from '../../kernels/webgpu/gpu-vector.ts';
import { STREAM_WORDS } from '../../kernels/wgsl/elias.ts';
import { unitWords } from '../../kernels/wgsl/quantization.ts';
import { BeyondDevice } from '../beyond-device.ts';
import {
  longestCoded,
  type CodedSection,
  type LevelCoding,
  type Section,
} from '../sections.ts';
import type { GpuTools } from './gpu-tools.ts';
import type { GpuSectionCodec, SectionTask } from './gpu-section-codec.ts';

export class GpuLevels implements GpuSectionCodec {
  readonly #work: GpuTools;
  readonly #coding: LevelCoding;
  readonly #scales: GPUBuffer;
  readonly #factors: GPUBuffer;
  /** Incoming codes of a stretch and its runs' units. */
  readonly #codes: GPUBuffer;
  readonly #units: GPUBuffer;
  /**
   * A section's packed codes before they become a stream, and the lengths of streams.
   */
  readonly #packed: GPUBuffer | undefined;
  readonly #streams: GPUBuffer | undefined;
  /** Scales of clipped sections, by section. */
  #limits = new Map<number, number>();
  prepare?: (tasks: readonly SectionTask[]) => Promise<void>;
  sizes?: (tasks: readonly SectionTask[]) => Promise<readonly number[]>;

  /** @throws BeyondDevice where a binding cannot hold a section, or a stream is too long */
  constructor(work: GpuTools, sections: readonly Section[], coding: LevelCoding) {
    const { runLength, levels, coding: form, scale } = coding;
    const bits = codeBits(levels);
    const longest = longestCoded(sections);
    work.requireBindable(packedBytes(longest, bits) / 4);
    if (form !== 'packed' && !takesStream(eliasCapacity(longest, levels, form))) {
      throw new BeyondDevice(`a stream of the Elias codes of ${longest} elements`);
    }
    this.#work = work;
    this.#coding = coding;
    this.#scales = work.buffer(4 * runsOf(longest, runLength));
    this.#factors = work.buffer(4 * runsOf(longest, runLength));
    const stretch = Math.min(longest, STRETCH);
    this.#codes = work.buffer(packedBytes(stretch, bits));
    this.#units = work.buffer(4 * (runsOf(stretch, runLength) + 1));
    if (form !== 'packed') {
      this.#packed = work.buffer(packedBytes(longest, bits));
      this.#streams = work.buffer(4 * STREAM_WORDS * sections.length);
      this.sizes = (tasks) => this.#sizesOf(tasks);
    }
    if (typeof scale === 'object') {
      this.prepare = (tasks) => this.#clip(tasks, scale.clip);
    }
  }

  *write({ x, index, noise, payload, offset }: SectionTask): Generator<number> {
    const { elias, gpu, quantization } = this.#work.device;
    const { commands } = gpu;
    const coding = this.#coding;
    const runs = runsOf(x.length, coding.runLength);
    const scales = { ...wholeOf(this.#scales), length: runs };
    const factors = { ...wholeOf(this.#factors), length: runs };
    const limit = this.#limits.get(index);
    if (limit !== undefined) commands.write(this.#scales, 0, Float32Array.of(limit));
    const kind = typeof coding.scale === 'object' ? 'given' : coding.scale;
    quantization.scalesOf(x, coding, kind, scales, factors);
    commands.copy(scales, payload, offset);
    const bits = codeBits(coding.levels);
    const words = packedBytes(x.length, bits) / 4;
    const from = 4 * runs;
    const packed = this.#packed && { ...wholeOf(this.#packed), length: words };
    if (packed !== undefined) commands.clear(packed);
    const codes = packed ?? { buffer: payload, offset: offset + from, length: words };
    for (let first = 0; first < x.length;) {
      first += quantization.roundStretch(
        x,
        first,
        coding,
        noise,
        scales,
        factors,
        codes,
      );
      if (packed === undefined) yield from + packedBytes(first, bits);
    }
    if (packed !== undefined && coding.coding !== 'packed') {
      const capacity = eliasCapacity(x.length, coding.levels, coding.coding);
      elias.encode(
        packed,
        x.length,
        bits,
        coding.coding,
        { buffer: payload, offset: offset + from, length: capacity / 4 },
        this.#streamOf(index),
      );
    }
  }

  decode({ numbers, codes }: CodedSection, out: GpuVector, add: boolean): void {
    const { arena, device } = this.#work;
    const { commands } = device.gpu;
    const { levels, runLength } = this.#coding;
    const bits = codeBits(levels);
    for (let first = 0; first < out.length; first += STRETCH) {
      const length = Math.min(STRETCH, out.length - first);
      const firstRun = Math.floor(first / runLength);
      const endRun = runsOf(first + length, runLength);
      const own = arena.f32(numbers).slice(firstRun, endRun);
      commands.write(this.#units, 0, unitWords(own, levels));
      const words = packedBytes(length, bits) / 4;
      const from = codes.offset + packedBytes(first, bits);
      commands.write(this.#codes, 0, arena.u32(from, words));
      device.quantization.addStretch(
        out,
        first,
        length,
        this.#coding,
        { ...wholeOf(this.#units), length: own.length },
        { ...wholeOf(this.#codes), length: words },
        add,
      );
    }
  }

  /** Scales of clipped sections; the host computes the deviation. */
  async #clip(tasks: readonly SectionTask[], clip: number): Promise<void> {
    const sums = await this.#work.device.fixedSums.of(tasks.map(({ x }) => x));
    this.#limits = new Map(
      tasks.map(({ index }, i) => {
        const own = sums[i]!;
        return [index, clip === 0 ? own.largest : clippedAt(own.largest, clip, own)];
      }),
    );
  }

  /** Bytes of sections whose codes are streams. */
  async #sizesOf(tasks: readonly SectionTask[]): Promise<readonly number[]> {
    const words = new Uint32Array(this.#streams!.size / 4);
    const { ring } = this.#work.device.gpu;
    await ring.read(this.#streams!, 0, new Uint8Array(words.buffer));
    return tasks.map(({ x, index }) => {
      const scales = 4 * runsOf(x.length, this.#coding.runLength);
      return scales + packedBytes(words[STREAM_WORDS * index]!, 1);
    });
  }

  #streamOf(index: number): BufferRange {
    const offset = 4 * STREAM_WORDS * index;
    return { buffer: this.#streams!, offset, length: STREAM_WORDS };
  }
}
