/** Signs and means on a GPU; the vector never leaves it. */
import { packedBytes, runsOf } from '../../kernels/quantization.ts';
import { STRETCH } from '../../kernels/webgpu/device-quantization.ts';
import { enqueueTranspose } from '../../kernels/webgpu/device-transpose.ts';
import { sliceOf, wholeOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { codedCapacity, codingOf, numbersOf } from '../section-layout.ts';
import {
  inColumnOrder,
  longestCoded,
  longestOfColumns,
  type CodedSection,
  type Section,
  type SignCoding,
} from '../sections.ts';
import type { GpuTools } from './gpu-tools.ts';
import type { GpuSectionCodec, SectionTask } from './gpu-section-codec.ts';

export class GpuSigns implements GpuSectionCodec {
  readonly #work: GpuTools;
  readonly #coding: SignCoding;
  readonly #means: GPUBuffer;
  /** Incoming means and signs of a stretch. */
  readonly #receivedMeans: GPUBuffer;
  readonly #receivedSigns: GPUBuffer;
  /** A section in the order of its columns. */
  readonly #columnwise: GpuVector;

  constructor(work: GpuTools, sections: readonly Section[], coding: SignCoding) {
    const stretch = Math.min(longestCoded(sections), STRETCH);
    const coded = sections.filter(({ dense }) => !dense);
    const most = (numbers: (section: Section) => number): number =>
      coded.reduce((sofar, section) => Math.max(sofar, numbers(section)), 0);
    this.#work = work;
    this.#coding = coding;
    this.#means = work.buffer(
      4 * most((section) => numbersOf(section.length, codingOf(section, coding))),
    );
    this.#receivedMeans = work.buffer(
      8 * most((section) => runsOf(stretch, codingOf(section, coding).runLength) + 1),
    );
    this.#receivedSigns = work.buffer(packedBytes(stretch, 1));
    this.#columnwise = work.vector(longestOfColumns(sections));
  }

  *write({ x, columns, payload, offset }: SectionTask): Generator<number> {
    const { gpu, signs } = this.#work.device;
    const { length } = x;
    const coding = codingOf({ length, columns }, this.#coding);
    const meanWords = numbersOf(length, coding);
    const means = { ...wholeOf(this.#means), length: meanWords };
    const codes = {
      buffer: payload,
      offset: offset + 4 * meanWords,
      length: packedBytes(length, 1) / 4,
    };
    if (!inColumnOrder(columns)) {
      signs.take(x, coding.runLength, means, codes);
    } else {
      const rows = length / columns;
      const elements = sliceOf(this.#columnwise, 0, length);
      enqueueTranspose(gpu, { elements: x, rows, columns }, elements, false);
      signs.take(elements, coding.runLength, means, codes);
      enqueueTranspose(gpu, { elements, rows: columns, columns: rows }, x, false);
    }
    gpu.commands.copy(means, payload, offset);
    yield codedCapacity(length, coding);
  }

  decode(section: CodedSection, out: GpuVector, add: boolean): void {
    const { columns } = section;
    const { length } = out;
    const { runLength } = codingOf({ length, columns }, this.#coding);
    if (!inColumnOrder(columns)) {
      this.#decode(section, runLength, out, add);
      return;
    }
    const elements = sliceOf(this.#columnwise, 0, length);
    this.#decode(section, runLength, elements, false);
    const ordered = { elements, rows: columns, columns: length / columns };
    enqueueTranspose(this.#work.device.gpu, ordered, out, add);
  }

  #decode(
    { numbers, codes }: CodedSection,
    runLength: number,
    out: GpuVector,
    add: boolean,
  ): void {
    const { arena, device } = this.#work;
    const { commands } = device.gpu;
    for (let first = 0; first < out.length; first += STRETCH) {
      const length = Math.min(STRETCH, out.length - first);
      const firstRun = Math.floor(first / runLength);
      const means = 2 * (runsOf(first + length, runLength) - firstRun);
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
        runLength,
        { ...wholeOf(this.#receivedMeans), length: means },
        { ...wholeOf(this.#receivedSigns), length: words },
        add,
      );
    }
  }
}
