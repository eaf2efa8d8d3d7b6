/**
 * A method's work on a GPU: enqueued, in the order of the calls. Only payloads move between
 * device and arena, through the staging ring. They are identical to the CPU's, so ranks of
 * both kinds can exchange them.
 */
import type { FixedSums } from '../../kernels/fixed-point.ts';
import type { Kernels, TwoMeans } from '../../kernels/kernels.ts';
import type { Quantizer } from '../../kernels/quantization.ts';
import { DeviceKernels } from '../../kernels/webgpu/device-kernels.ts';
import type { GpuDevice } from '../../kernels/webgpu/gpu-device.ts';
import { sliceOf, type GpuVector } from '../../kernels/webgpu/gpu-vector.ts';
import { vectorOf, type Arena, type Region } from '../../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../../memory/entries.ts';
import { sparseStreams, type Combined } from '../../memory/payload.ts';
import type { HalfType } from '../../memory/value-type.ts';
import { BeyondDevice } from '../beyond-device.ts';
import type { FactorRoom } from '../factors.ts';
import type { Section, SectionCoder, SectionCoding } from '../sections.ts';
import type { Stretch } from '../selection.ts';
import type { Mirror, Work } from '../work.ts';
import { GpuEntryRoom, type EntryPlace } from './gpu-entries.ts';
import { GpuEntryCoder } from './gpu-entry-coder.ts';
import { GpuFactors } from './gpu-factors.ts';
import { GpuHalves } from './gpu-halves.ts';
import { GpuStretches, mostOf } from './gpu-stretches.ts';
import type { GpuTools } from './gpu-tools.ts';
import { gpuSections } from './gpu-sections.ts';
import { GpuSelector } from './gpu-selector.ts';
import { StreamUpload } from './stream-upload.ts';

/** A relative error beyond those of the sums on the device and on a CPU together. */
const UNSURE = 2 ** -35;

export class GpuWork implements Work<GpuVector>, GpuTools {
  readonly arena: Arena;
  readonly kernels: Kernels;
  readonly #gpu: GpuDevice;
  /** Separate scratch, because requests of buckets overlap in time. */
  readonly #device: DeviceKernels;
  readonly #upload: StreamUpload;
  readonly #regions: Region[] = [];
  readonly #owned: Disposable[] = [];

  /** @param kernels the CPU's */
  constructor(gpu: GpuDevice, arena: Arena, kernels: Kernels) {
    this.arena = arena;
    this.kernels = kernels;
    this.#gpu = gpu;
    this.#device = new DeviceKernels(gpu);
    this.#upload = new StreamUpload(this.#device, arena);
  }

  /** Kernels for work outside a method. */
  get device(): DeviceKernels {
    return this.#device;
  }

  region(bytes: number): Region {
    const region = this.arena.allocate(bytes);
    this.#regions.push(region);
    return region;
  }

  vector(length: number): GpuVector {
    const vector = this.#gpu.allocateVector(length);
    this.#own({
      [Symbol.dispose]: () => {
        this.#gpu.release(vector);
      },
    });
    return vector;
  }

  slice(x: GpuVector, start: number, length: number): GpuVector {
    return sliceOf(x, start, length);
  }

  clear(x: GpuVector): void {
    this.#device.elementwise.clear(x);
  }

  add(out: GpuVector, x: GpuVector): void {
    this.#device.elementwise.add(out, x);
  }

  addFinite(out: GpuVector, x: GpuVector): void {
    this.add(out, x);
  }

  scale(x: GpuVector, factor: number): void {
    this.#device.elementwise.scale(x, factor);
  }

  blend(out: GpuVector, outFactor: number, x: GpuVector, xFactor: number): void {
    this.#device.elementwise.blend(out, outFactor, x, xFactor);
  }

  shiftBySign(x: GpuVector, plus: number, minus: number): void {
    this.#device.elementwise.shiftBySign(x, plus, minus);
  }

  scatterAdd(out: GpuVector, stream: SparseStream, factor: number): void {
    this.#upload.scatterAdd(out, [stream], factor);
  }

  average(combined: Combined, out: GpuVector, world: number): { nnzReduced?: number } {
    switch (combined.form) {
      case 'dense': {
        const { offset } = combined.data;
        this.#gpu.write(out, this.arena.f32({ offset, length: out.length }));
        if (world > 1 && combined.averaged !== true) this.scale(out, 1 / world);
        return {};
      }
      case 'sparse':
      case 'streams':
        return this.#scatterAverage(sparseStreams(combined), out, world);
      case 'gathered': {
        this.clear(out);
        for (const payload of combined.payloads) {
          if (payload.kind !== 'sparse') {
            throw new Error(
              `internal: a gathered ${payload.kind} payload has no sum here`,
            );
          }
          const { data, count } = payload;
          this.scatterAdd(out, { offset: data.offset, count }, 1);
        }
        if (world > 1) this.scale(out, 1 / world);
        return {};
      }
      default:
        return combined satisfies never;
    }
  }

  fixedSums(vectors: readonly GpuVector[]): Promise<readonly FixedSums[]> {
    return this.#device.fixedSums.of(vectors);
  }

  /**
   * A CPU sums in f64, in its own order; the GPU's sums are right to 2⁻³⁸ (`wgsl/sums.ts`).
   * Nearly always both round to the same f32. If a mean is so close to the middle of two f32
   * that they might differ, once in some thousands of times, its elements are read back and
   * the CPU's kernels decide.
   */
  async twoMeans(vectors: readonly GpuVector[]): Promise<readonly TwoMeans[]> {
    const means = await this.#device.sums.twoMeans(vectors);
    const sure: TwoMeans[] = [];
    for (const [index, mean] of means.entries()) {
      const known = isSure(mean.plus) && isSure(mean.minus);
      sure.push(known ? mean : await this.#meansOnCpu(vectors[index]!));
    }
    return sure;
  }

  async values(x: GpuVector): Promise<Float32Array> {
    const values = new Float32Array(x.length);
    await this.#gpu.read(x, values);
    return values;
  }

  write(x: GpuVector, values: Float32Array): void {
    this.#gpu.write(x, values);
  }

  mirror(length: number): Mirror<GpuVector> {
    const region = this.region(4 * length);
    return {
      of: async (x) => {
        const copy = vectorOf(region, x.length);
        await this.#gpu.read(x, this.arena.f32(copy));
        return copy;
      },
    };
  }

  halves(length: number, type: HalfType): GpuHalves {
    return new GpuHalves(this, type, length);
  }

  entries(capacity: number): GpuEntryRoom {
    const place = this.#placeFor(capacity);
    const indices = this.buffer(4 * capacity);
    const values = this.buffer(4 * capacity);
    return new GpuEntryRoom(place, capacity, () => ({ indices, values }));
  }

  selector(length: number, capacity: number): GpuSelector {
    const place = this.#placeFor(capacity);
    const selection = this.#device.selection(length, capacity);
    return this.#own(new GpuSelector(place, selection, capacity));
  }

  stretchSelector(length: number, stretches: readonly Stretch[]): GpuStretches {
    const capacity = mostOf(stretches);
    const place = this.#placeFor(capacity);
    const selection = this.#device.selection(length, capacity);
    return this.#own(new GpuStretches(place, selection, stretches));
  }

  factors(room: FactorRoom): GpuFactors {
    const { lefts, rights } = room;
    this.requireBindable(Math.max(lefts, rights));
    const memory = vectorOf(this.region(4 * (lefts + rights)), lefts + rights);
    this.kernels.fill(memory, 0);
    return this.#own(
      new GpuFactors({ gpu: this.#gpu, arena: this.arena, memory }, room),
    );
  }

  sections(
    sections: readonly Section[],
    coding: SectionCoding,
  ): SectionCoder<GpuVector> {
    return gpuSections(this, sections, coding);
  }

  entryCoder(capacity: number, quantizer: Quantizer): GpuEntryCoder {
    return new GpuEntryCoder(this, capacity, quantizer);
  }

  [Symbol.dispose](): void {
    for (const owned of this.#owned.splice(0)) owned[Symbol.dispose]();
    for (const region of this.#regions.splice(0)) this.arena.release(region);
    this.#upload[Symbol.dispose]();
    this.#device[Symbol.dispose]();
  }

  #scatterAverage(
    streams: readonly SparseStream[],
    out: GpuVector,
    world: number,
  ): { nnzReduced: number } {
    this.clear(out);
    this.#upload.scatterAdd(out, streams, 1 / world);
    return { nnzReduced: streams.reduce((sum, { count }) => sum + count, 0) };
  }

  #own<T extends Disposable>(what: T): T {
    this.#owned.push(what);
    return what;
  }

  buffer(bytes: number): GPUBuffer {
    const buffer = this.#gpu.allocate(bytes);
    this.#own({
      [Symbol.dispose]: () => {
        this.#gpu.destroy(buffer);
      },
    });
    return buffer;
  }

  /** Allocates room for entries whose indices or values a kernel binds at once. */
  #placeFor(capacity: number): EntryPlace {
    this.requireBindable(capacity);
    const region = this.region(sparseBytes(capacity));
    const { elementwise } = this.#device;
    return { gpu: this.#gpu, elementwise, arena: this.arena, region };
  }

  /** @throws BeyondDevice where a binding cannot hold an array of this many 4-byte words */
  requireBindable(words: number): void {
    if (4 * words <= this.#gpu.bindableBytes) return;
    throw new BeyondDevice(`${words} words in one binding`);
  }

  async #meansOnCpu(x: GpuVector): Promise<TwoMeans> {
    const region = this.arena.allocateVector(x.length);
    try {
      const copy = vectorOf(region, x.length);
      await this.#gpu.read(x, this.arena.f32(copy));
      return this.kernels.twoMeans(copy);
    } finally {
      this.arena.release(region);
    }
  }
}

/** Whether a number this close to the device's mean rounds to the same f32. */
function isSure(mean: number): boolean {
  return Math.fround(mean * (1 - UNSURE)) === Math.fround(mean * (1 + UNSURE));
}
