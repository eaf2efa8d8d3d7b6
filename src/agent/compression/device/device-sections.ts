/**
 * The frame that the quantisers share on a GPU: the sections of `sectioned-compressor.ts`,
 * laid out on the device and read into the arena as they travel. Where their lengths are
 * known, what is complete is read while the next is being made; where they follow from the
 * codes, each section has room for its longest, and lengths come back first.
 */
import type { Region } from '../../memory/arena.ts';
import { sliceOf, windowsOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import type { Combined, Payload } from '../../memory/payload.ts';
import type { ExchangeStatistics } from '../method.ts';
import { payloadInvalid, sentBy } from '../payload-check.ts';
import { noState, requireNoState } from '../stateless.ts';
import { isBindable } from './binding-limit.ts';
import type { DeviceCompressor, DeviceContext } from './device-method.ts';

/** Least bytes that a read-back of their own pays for. */
const READ_BYTES = 2 ** 20;

/** One section's elements on the device, and where its bytes go. */
export interface SectionTask {
  /** Elements; where the method keeps a residual, left without what is sent. */
  readonly x: GpuVector;
  /** Which tensor of the bucket. */
  readonly index: number;
  readonly iteration: number;
  readonly payload: GPUBuffer;
  /** First byte in the payload; zeros from here on, for `capacity` bytes. */
  readonly offset: number;
}

/** How sections become bytes on the device; what comes back is checked in the arena. */
export interface DeviceSectionCodec extends Disposable {
  /** Bytes that a section of n elements never exceeds. */
  capacity(n: number): number;
  /** Work ahead of all sections that needs an answer from the device. */
  prepare?(tasks: readonly SectionTask[]): Promise<void>;
  /** Enqueues a section's bytes; tells after each part how many are complete. */
  write(task: SectionTask): Iterable<number>;
  /** Bytes of the sections just written, where they are not their capacities. */
  sizes?(tasks: readonly SectionTask[]): Promise<number[]>;
  /**
   * The bytes of the section of n elements that begins where `data` does, checked.
   * @throws GradwireError `PAYLOAD_INVALID`
   */
  measure(data: Region, n: number): number;
  /** Enqueues out ← out + values of the section measured last, or the values alone. */
  decode(data: Region, out: GpuVector, add: boolean): void;
}

interface Parameters {
  readonly minElements: number;
}

interface Section {
  readonly start: number;
  readonly length: number;
  readonly dense: boolean;
  /** First byte of its room in the payload on the device. */
  readonly offset: number;
  readonly capacity: number;
}

export class SectionsOnDevice implements DeviceCompressor {
  readonly #method: string;
  readonly #context: DeviceContext<Parameters>;
  readonly #codec: DeviceSectionCodec;
  readonly #sections: readonly Section[];
  readonly #region: Region;
  readonly #payload: GPUBuffer;
  #dense: GpuVector | undefined;

  /** Undefined, and `codec` ended, where a binding cannot hold the payload. */
  static create(
    method: string,
    context: DeviceContext<Parameters>,
    codec: DeviceSectionCodec,
  ): SectionsOnDevice | undefined {
    let bytes = 0;
    const sections = context.tensors.map(({ start, length }) => {
      const dense = length < context.parameters.minElements;
      const capacity = dense ? 4 * length : codec.capacity(length);
      bytes += capacity;
      return { start, length, dense, offset: bytes - capacity, capacity };
    });
    if (isBindable(context, bytes / 4)) {
      return new SectionsOnDevice(method, context, codec, sections, bytes);
    }
    codec[Symbol.dispose]();
    return undefined;
  }

  private constructor(
    method: string,
    context: DeviceContext<Parameters>,
    codec: DeviceSectionCodec,
    sections: readonly Section[],
    bytes: number,
  ) {
    this.#method = method;
    this.#context = context;
    this.#codec = codec;
    this.#sections = sections;
    this.#region = context.arena.allocate(bytes);
    this.#payload = context.device.gpu.allocate(bytes);
  }

  async encode(gradient: GpuVector, iteration: number): Promise<Payload> {
    const { device, length, residual } = this.#context;
    if (residual !== undefined) device.elementwise.add(residual, gradient);
    const source = residual ?? gradient;
    const tasks = this.#sections.map(({ start, length, offset }, index) => {
      const x = sliceOf(source, start, length);
      return { x, index, iteration, payload: this.#payload, offset };
    });
    const coded = tasks.filter(({ index }) => !this.#sections[index]!.dense);
    await this.#codec.prepare?.(coded);
    const size = this.#payload.size;
    device.gpu.commands.clear({
      buffer: this.#payload,
      offset: 0,
      length: size / 4,
    });
    const bytes =
      this.#codec.sizes === undefined
        ? await this.#encodeFixed(tasks)
        : await this.#encodeSized(tasks, await this.#writeAll(tasks, coded));
    const { offset } = this.#region;
    return { kind: 'quantized', length, data: { offset, bytes } };
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the rank that sent it */
  decode(combined: Combined, out: GpuVector): ExchangeStatistics {
    if (combined.form !== 'gathered') {
      throw new Error(`internal: ${this.#method} has no ${combined.form} sums`);
    }
    const { device, world } = this.#context;
    for (const [rank, { data }] of combined.payloads.entries()) {
      try {
        this.#read(data, out, rank > 0);
      } catch (error) {
        throw sentBy(rank, error);
      }
    }
    if (world > 1) device.elementwise.scale(out, 1 / world);
    return {};
  }

  parse(data: Region): Payload {
    this.#read(data);
    return { kind: 'quantized', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(this.#method, state);
  }

  [Symbol.dispose](): void {
    const { arena, device } = this.#context;
    this.#codec[Symbol.dispose]();
    device.gpu.destroy(this.#payload);
    if (this.#dense !== undefined) device.gpu.release(this.#dense);
    arena.release(this.#region);
  }

  /** Rooms follow each other as sections do: the payload is read as it grows. */
  async #encodeFixed(tasks: readonly SectionTask[]): Promise<number> {
    const { arena, device } = this.#context;
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

  /** Sections' bytes, once they are known, are read to where they belong. */
  async #encodeSized(
    tasks: readonly SectionTask[],
    sizes: readonly number[],
  ): Promise<number> {
    const { arena, device } = this.#context;
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
    const { device, residual } = this.#context;
    if (!this.#sections[task.index]!.dense) {
      yield* this.#codec.write(task);
      return;
    }
    for (const { first, parts } of windowsOf([task.x])) {
      device.gpu.commands.copy(parts[0], this.#payload, task.offset + 4 * first);
    }
    if (residual !== undefined) device.elementwise.clear(task.x);
    yield 4 * task.x.length;
  }

  /** Checks the payload; its values go to `out`, where there is one. */
  #read(data: Region, out?: GpuVector, add = false): void {
    const { arena, device } = this.#context;
    let read = 0;
    for (const { start, length, dense } of this.#sections) {
      const rest = { offset: data.offset + read, bytes: data.bytes - read };
      const target = out && sliceOf(out, start, length);
      if (dense) {
        if (rest.bytes < 4 * length) {
          const missing = 4 * length - rest.bytes;
          throw payloadInvalid(this.#method, `it ends ${missing} bytes early`);
        }
        const values = arena.f32({ offset: rest.offset, length });
        if (target !== undefined && add) {
          device.elementwise.add(target, this.#uploaded(values));
        } else if (target !== undefined) {
          device.gpu.write(target, values);
        }
        read += 4 * length;
      } else {
        const bytes = this.#codec.measure(rest, length);
        if (target !== undefined) {
          this.#codec.decode({ offset: rest.offset, bytes }, target, add);
        }
        read += bytes;
      }
    }
    if (read !== data.bytes) {
      throw payloadInvalid(this.#method, `${data.bytes} bytes, not ${read}`);
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
}

/** Elements of the longest section that a codec will be given. */
export function longestSection({
  parameters,
  tensors,
}: DeviceContext<Parameters>): number {
  const lengths = tensors.map(({ length }) => length);
  return Math.max(0, ...lengths.filter((length) => length >= parameters.minElements));
}
