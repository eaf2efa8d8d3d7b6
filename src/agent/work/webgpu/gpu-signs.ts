/** Signs and means on a GPU, taken out of a vector that never leaves. */
import { packedBytes, runsOf } from '../../kernels/quantization.ts';
import { STRETCH } from '../../kernels/webgpu/device-quantization.ts';
import { wholeOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { codedCapacity } from '../section-layout.ts';
import {
  longestCoded,
  type CodedSection,
  type Section,
  type SignCoding,
} from '../sections.ts';
import type { GpuParts } from './gpu-parts.ts';
import type { GpuSectionCodec, SectionTask } from './gpu-section-codec.ts';

export class GpuSigns implements GpuSectionCodec {
  readonly #work: GpuParts;
  readonly #coding: SignCoding;
  readonly #means: GPUBuffer;
  /** A stretch's means and signs on their way in. */
  readonly #receivedMeans: GPUBuffer;
  readonly #receivedSigns: GPUBuffer;

  constructor(work: GpuParts, sections: readonly Section[], coding: SignCoding) {
    const { bucket } = coding;
    const longest = longestCoded(sections);
    const stretch = Math.min(longest, STRETCH);
    this.#work = work;
    this.#coding = coding;
    this.#means = work.buffer(8 * runsOf(longest, bucket));
    this.#receivedMeans = work.buffer(8 * (runsOf(stretch, bucket) + 1));
    this.#receivedSigns = work.buffer(packedBytes(stretch, 1));
  }

  *write({ x, payload, offset }: SectionTask): Generator<number> {
    const { gpu, signs } = this.#work.device;
    const { bucket } = this.#coding;
    const meanWords = 2 * runsOf(x.length, bucket);
    const means = { ...wholeOf(this.#means), length: meanWords };
    signs.take(x, bucket, means, {
      buffer: payload,
      offset: offset + 4 * meanWords,
      length: packedBytes(x.length, 1) / 4,
    });
    gpu.commands.copy(means, payload, offset);
    yield codedCapacity(x.length, this.#coding);
  }

  decode({ numbers, codes }: CodedSection, out: GpuVector, add: boolean): void {
    const { arena, device } = this.#work;
    const { commands } = device.gpu;
    const { bucket } = this.#coding;
    for (let first = 0; first < out.length; first += STRETCH) {
      const length = Math.min(STRETCH, out.length - first);
      const firstRun = Math.floor(first / bucket);
      const means = 2 * (runsOf(first + length, bucket) - firstRun);
      const words = packedBytes(length, 1) / 4;
      const meansAt = numbers.offset + 8 * firstRun;
      commands.write(this.#receivedMeans, 0, arena.u32(meansAt, means));
      commands.write(
        this.#receivedSigns,
        0,
        arena.u32(codes.offset + first / 8, words),
      );
      device.signs.add(
        out,
        first,
        length,
        bucket,
        { ...wholeOf(this.#receivedMeans), length: means },
        { ...wholeOf(this.#receivedSigns), length: words },
        add,
      );
    }
  }
}
