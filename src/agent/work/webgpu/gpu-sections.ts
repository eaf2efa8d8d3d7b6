/**
 * Payloads of sections on a GPU, laid out there and read into the arena as sent. If lengths
 * are known in advance, complete parts are read while the next is being made; if they depend
 * on the codes, each section has room for its longest form, and lengths are read first.
 */
import type { RandomStream } from '../../kernels/random.ts';
import { sliceOf, windowsOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Region } from '../../memory/arena.ts';
import { payloadCapacity, sectionCapacity } from '../section-layout.ts';
import {
  noiseOf,
  type HostCoding,
  type ReceivedSection,
  type Section,
  type SectionCoder,
  type SectionCoding,
} from '../sections.ts';
import { GpuHostSections } from './gpu-host-sections.ts';
import { GpuLevels } from './gpu-levels.ts';
import type { GpuTools } from './gpu-tools.ts';
import { GpuReceivedSections } from './gpu-received-sections.ts';
import type { GpuSectionCodec, SectionTask } from './gpu-section-codec.ts';
import { GpuSigns } from './gpu-signs.ts';

/** Minimum bytes per read-back. */
const READ_BYTES = 2 ** 20;

/** A section with its room in the payload on the device. */
interface PlacedSection extends Section {
  /** First byte. */
  readonly offset: number;
  readonly capacity: number;
}

/** @throws BeyondDevice where a binding cannot hold the payload, or a section's codes */
export function gpuSections(
  work: GpuTools,
  sections: readonly Section[],
  coding: SectionCoding,
): SectionCoder<GpuVector> {
  return coding.kind === 'host'
    ? new GpuHostSections(work, sections, coding)
    : new GpuSections(work, sections, coding);
}

class GpuSections implements SectionCoder<GpuVector> {
  readonly #work: GpuTools;
  readonly #codec: GpuSectionCodec;
  readonly #received: GpuReceivedSections;
  readonly #sections: readonly PlacedSection[];
  readonly #region: Region;
  readonly #payload: GPUBuffer;

  constructor(
    work: GpuTools,
    sections: readonly Section[],
    coding: Exclude<SectionCoding, HostCoding>,
  ) {
    const bytes = payloadCapacity(sections, coding);
    work.requireBindable(bytes / 4);
    let end = 0;
    this.#sections = sections.map((section) => {
      const capacity = sectionCapacity(section, coding);
      end += capacity;
      return { ...section, offset: end - capacity, capacity };
    });
    this.#work = work;
    this.#codec =
      coding.kind === 'levels'
        ? new GpuLevels(work, sections, coding)
        : new GpuSigns(work, sections, coding);
    const dense = sections.filter((section) => section.dense);
    this.#received = new GpuReceivedSections(work, dense);
    this.#region = work.region(bytes);
    this.#payload = work.buffer(bytes);
  }

  async encode(x: GpuVector, noise: RandomStream): Promise<Region> {
    const payload = this.#payload;
    const tasks = this.#sections.map(({ start, length, offset, columns }, index) => ({
      x: sliceOf(x, start, length),
      index,
      columns,
      noise: noiseOf(noise, index),
      payload,
      offset,
    }));
    const coded = tasks.filter(({ index }) => !this.#sections[index]!.dense);
    if (this.#codec.prepare !== undefined) await this.#codec.prepare(coded);
    const { commands } = this.#work.device.gpu;
    commands.clear({ buffer: payload, offset: 0, length: payload.size / 4 });
    const bytes =
      this.#codec.sizes === undefined
        ? await this.#encodeFixed(tasks)
        : await this.#encodeSized(tasks, await this.#writeAll(tasks, coded));
    return { offset: this.#region.offset, bytes };
  }

  decode(section: ReceivedSection, out: GpuVector, add: boolean): void {
    if (section.kind === 'coded') this.#codec.decode(section, out, add);
    else this.#received.decode(section, out, add);
  }

  /** Rooms are consecutive like the sections, so the payload is read as it grows. */
  async #encodeFixed(tasks: readonly SectionTask[]): Promise<number> {
    const { arena, device } = this.#work;
    const reads: Promise<void>[] = [];
    let read = 0;
    const readUpTo = (end: number): void => {
      const into = arena.u8(this.#region.offset + read, end - read);
      const part = device.gpu.ring.read(this.#payload, read, into);
      // What it throws comes out below.
      part.catch(() => undefined);
      reads.push(part);
      read = end;
    };
    let end = 0;
    for (const task of tasks) {
      for (const done of this.#write(task)) {
        if (task.offset + done - read >= READ_BYTES) readUpTo(task.offset + done);
      }
      end = task.offset + this.#sections[task.index]!.capacity;
    }
    readUpTo(end);
    await Promise.all(reads);
    return end;
  }

  /** Reads sections to their final positions once their sizes are known. */
  async #encodeSized(
    tasks: readonly SectionTask[],
    sizes: readonly number[],
  ): Promise<number> {
    const { arena, device } = this.#work;
    const reads: Promise<void>[] = [];
    let bytes = 0;
    for (const { index, offset } of tasks) {
      const into = arena.u8(this.#region.offset + bytes, sizes[index]!);
      reads.push(device.gpu.ring.read(this.#payload, offset, into));
      bytes += sizes[index]!;
    }
    await Promise.all(reads);
    return bytes;
  }

  /** Bytes of every section. */
  async #writeAll(
    tasks: readonly SectionTask[],
    coded: readonly SectionTask[],
  ): Promise<number[]> {
    for (const task of tasks) {
      // Nothing is read before all lengths are known.
      Array.from(this.#write(task));
    }
    const sizes = this.#sections.map(({ capacity }) => capacity);
    const found = await this.#codec.sizes!(coded);
    coded.forEach(({ index }, i) => {
      sizes[index] = found[i]!;
    });
    return sizes;
  }

  *#write(task: SectionTask): Generator<number> {
    if (!this.#sections[task.index]!.dense) {
      yield* this.#codec.write(task);
      return;
    }
    const { commands } = this.#work.device.gpu;
    for (const { first, parts } of windowsOf([task.x])) {
      commands.copy(parts[0], this.#payload, task.offset + 4 * first);
    }
    yield 4 * task.x.length;
  }
}
