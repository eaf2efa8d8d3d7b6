/**
 * Quantisation on several threads, with the bits of one. Slices begin where a run of
 * elements that share a scale begins and where packed codes begin a byte; where there is
 * but one run, it has its scale first. Elias codes have no places to begin at, and are
 * left to one thread.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import {
  clippedAt,
  roundedNormOf,
  exponentOf,
  type FixedSums,
} from '../fixed-point.ts';
import {
  codeBits,
  packedBytes,
  runsOf,
  type EliasForm,
  type QuantizationKernels,
  type Quantizer,
  type ScaleKind,
} from '../quantization.ts';
import { requireCapacity, requireElements } from '../preconditions.ts';
import type { StreamName } from '../random.ts';
import { SLICE } from './job-board.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { Scratch } from './scratch.ts';
import { SCALES } from './wasm-quantization.ts';

/** A sum, and two parts of another, of a slice. */
const SUMS_BYTES = 24;
/** Codes of so many elements fill whole words, whatever their width. */
const TILE = 32;

export class ThreadedQuantization implements QuantizationKernels {
  readonly #arena: Arena;
  readonly #threads: KernelThreads;
  readonly #alone: QuantizationKernels;
  readonly #sums: Scratch;

  /** @param alone the kernels of one thread */
  constructor(arena: Arena, threads: KernelThreads, alone: QuantizationKernels) {
    this.#arena = arena;
    this.#threads = threads;
    this.#alone = alone;
    this.#sums = new Scratch(arena);
  }

  quantize(
    x: Vector,
    quantizer: Quantizer,
    scale: ScaleKind | 'given',
    noise: StreamName,
    scales: Vector,
    codes: Region,
  ): void {
    const { levels, bucket } = quantizer;
    const slices = this.#slices(x.length, bucket);
    if (slices === undefined) {
      this.#alone.quantize(x, quantizer, scale, noise, scales, codes);
      return;
    }
    const bits = codeBits(levels);
    requireElements(scales, runsOf(x.length, bucket));
    requireCapacity(codes, packedBytes(x.length, bits));
    let kind = scale;
    if (slices.single && kind !== 'given') {
      this.#arena.f32(scales)[0] =
        kind === 'max' ? this.#maximum(x) : roundedNormOf(this.fixedSums(x));
      kind = 'given';
    }
    const threads = this.#threads;
    threads
      .job('quantize', x.length, slices.length)
      .named(noise)
      .elements(x)
      .length()
      .fixed(levels)
      .fixed(bits)
      .fixed(bucket)
      .fixed(SCALES[kind])
      .step(scales.offset, 4 * slices.runs)
      .step(codes.offset, (slices.length / 8) * bits)
      .own(threads.tiles, threads.threadBytes)
      .step(0, slices.length);
    threads.run();
  }

  dequantize(
    out: Vector,
    quantizer: Quantizer,
    scales: Vector,
    codes: Region,
    add: boolean,
  ): void {
    const { levels, bucket } = quantizer;
    const slices = this.#slices(out.length, bucket);
    if (slices === undefined) {
      this.#alone.dequantize(out, quantizer, scales, codes, add);
      return;
    }
    const bits = codeBits(levels);
    requireElements(scales, runsOf(out.length, bucket));
    requireCapacity(codes, packedBytes(out.length, bits));
    const threads = this.#threads;
    threads
      .job('dequantize', out.length, slices.length)
      .elements(out)
      .length()
      .fixed(levels)
      .fixed(bits)
      .fixed(bucket)
      .step(scales.offset, 4 * slices.runs)
      .step(codes.offset, (slices.length / 8) * bits)
      .fixed(Number(add))
      .own(threads.tiles, threads.threadBytes);
    threads.run();
  }

  largestLevel(codes: Region, count: number, levels: number): number {
    const threads = this.#threads;
    if (!threads.takes(count)) return this.#alone.largestLevel(codes, count, levels);
    const bits = codeBits(levels);
    requireCapacity(codes, packedBytes(count, bits));
    threads
      .job('largestLevel', count)
      .step(codes.offset, (SLICE / 8) * bits)
      .length()
      .fixed(bits)
      .own(threads.tiles, threads.threadBytes);
    return this.#largestResult(threads.run());
  }

  clippedMaximum(x: Vector, clip: number): number {
    if (!this.#threads.takes(x.length)) return this.#alone.clippedMaximum(x, clip);
    const largest = this.#maximum(x);
    return clip === 0 ? largest : clippedAt(largest, clip, this.fixedSums(x));
  }

  fixedSums(x: Vector): FixedSums {
    const count = x.length;
    if (!this.#threads.takes(count)) return this.#alone.fixedSums(x);
    const exponent = exponentOf(this.#maximum(x));
    const offset = this.#sums.reserve(SUMS_BYTES * Math.ceil(count / SLICE));
    const threads = this.#threads;
    threads
      .job('storeFixedSums', count)
      .elements(x)
      .length()
      .fixed(exponent + 127)
      .step(offset, SUMS_BYTES);
    const parts = new BigInt64Array(this.#arena.buffer, offset, 3 * threads.run());
    let [sum, low, high] = [0n, 0n, 0n];
    for (let at = 0; at < parts.length; at += 3) {
      sum += parts[at]!;
      low += parts[at + 1]!;
      high += parts[at + 2]!;
    }
    return { count, exponent, sum, squares: (high << 32n) + low };
  }

  eliasEncode(
    codes: Region,
    count: number,
    levels: number,
    form: EliasForm,
    out: Region,
  ): number {
    return this.#alone.eliasEncode(codes, count, levels, form, out);
  }

  eliasDecode(data: Region, count: number, levels: number, codes: Region): number {
    return this.#alone.eliasDecode(data, count, levels, codes);
  }

  quantizeSigns(x: Vector, bucket: number, means: Vector, signs: Region): void {
    const slices = this.#slices(x.length, bucket);
    if (slices === undefined || slices.single) {
      this.#alone.quantizeSigns(x, bucket, means, signs);
      return;
    }
    requireElements(means, 2 * runsOf(x.length, bucket));
    requireCapacity(signs, packedBytes(x.length, 1));
    const threads = this.#threads;
    threads
      .job('quantizeSigns', x.length, slices.length)
      .elements(x)
      .length()
      .fixed(bucket)
      .step(means.offset, 8 * slices.runs)
      .step(signs.offset, slices.length / 8);
    threads.run();
  }

  dequantizeSigns(
    out: Vector,
    bucket: number,
    means: Vector,
    signs: Region,
    add: boolean,
  ): void {
    const slices = this.#slices(out.length, bucket);
    if (slices === undefined) {
      this.#alone.dequantizeSigns(out, bucket, means, signs, add);
      return;
    }
    requireElements(means, 2 * runsOf(out.length, bucket));
    requireCapacity(signs, packedBytes(out.length, 1));
    const threads = this.#threads;
    threads
      .job('dequantizeSigns', out.length, slices.length)
      .elements(out)
      .length()
      .fixed(bucket)
      .step(means.offset, 8 * slices.runs)
      .step(signs.offset, slices.length / 8)
      .fixed(Number(add));
    threads.run();
  }

  #maximum(x: Vector): number {
    const threads = this.#threads;
    threads.job('maximum', x.length).elements(x).length();
    return this.#largestResult(threads.run());
  }

  #largestResult(slices: number): number {
    const { results } = this.#threads;
    let largest = 0;
    for (let i = 0; i < slices; i++) largest = Math.max(largest, results[i]!);
    return largest;
  }

  /**
   * How to slice n elements in runs of `bucket`: whole runs and whole tiles, or, of a
   * single run, any tiles; undefined where one thread does it.
   */
  #slices(n: number, bucket: number): RunSlices | undefined {
    if (!this.#threads.takes(n)) return undefined;
    if (bucket >= n) return { length: SLICE, runs: 0, single: true };
    const unit = leastCommonMultiple(bucket, TILE);
    const length = unit * Math.ceil(SLICE / unit);
    if (2 * length > n) return undefined;
    return { length, runs: length / bucket, single: false };
  }
}

interface RunSlices {
  /** Elements. */
  readonly length: number;
  /** Runs in a slice; 0 where all slices belong to one run and share what it has. */
  readonly runs: number;
  readonly single: boolean;
}

function leastCommonMultiple(bucket: number, powerOfTwo: number): number {
  const common = Math.min(bucket & -bucket, powerOfTwo);
  return bucket * (powerOfTwo / common);
}
