/** The quantising kernels in WebAssembly: checked arguments; a few KiB of scratch. */
import type { Region, Vector } from '../../memory/arena.ts';
import { clippedAt, exponentOf, type FixedSums } from '../fixed-point.ts';
import {
  codeBits,
  eliasCapacity,
  packedBytes,
  runsOf,
  type EliasForm,
  type QuantizationKernels,
  type Quantizer,
  type ScaleKind,
} from '../quantization.ts';
import { requireCapacity, requireElements } from '../preconditions.ts';
import type { StreamName } from '../random.ts';
import type { Scratch } from './scratch.ts';

/** What assembly/index.ts exports for quantisation. */
export interface QuantizationExports {
  nameStream(
    seed: number,
    rank: number,
    bucket: number,
    iteration: number,
    purpose: number,
  ): void;
  quantize(
    x: number,
    n: number,
    levels: number,
    bits: number,
    bucket: number,
    kind: number,
    scales: number,
    codes: number,
    scratch: number,
    first: number,
  ): void;
  dequantize(
    out: number,
    n: number,
    levels: number,
    bits: number,
    bucket: number,
    scales: number,
    codes: number,
    add: number,
    scratch: number,
  ): void;
  largestLevel(codes: number, n: number, bits: number, scratch: number): number;
  maximum(x: number, n: number): number;
  scaleOf(x: number, n: number, kind: number): number;
  fixedSums(x: number, n: number, exponent: number): void;
  fixedSum(): bigint;
  fixedSquaresLow(): bigint;
  fixedSquaresHigh(): bigint;
  storeFixedSums(x: number, n: number, exponent: number, out: number): void;
  eliasEncode(
    codes: number,
    n: number,
    bits: number,
    form: number,
    out: number,
    scratch: number,
  ): number;
  eliasDecode(
    data: number,
    bytes: number,
    n: number,
    levels: number,
    bits: number,
    codes: number,
    scratch: number,
  ): number;
  quantizeSigns(
    x: number,
    n: number,
    bucket: number,
    means: number,
    signs: number,
  ): void;
  dequantizeSigns(
    out: number,
    n: number,
    bucket: number,
    means: number,
    signs: number,
    add: number,
  ): void;
}

/** As assembly/quantize.ts and assembly/elias.ts number them. */
export const SCALES = { max: 0, l2: 1, given: 2 } as const;
const FORMS = { auto: 0, sparse: 1, dense: 2 } as const;

/** Four tiles, as assembly/quantize.ts takes them. */
export const TILES_BYTES = 256;
const ELIAS_BYTES = 128 + 2 * 2048;

export class WasmQuantization implements QuantizationKernels {
  readonly #run: QuantizationExports;
  readonly #scratch: Scratch;

  constructor(exports: QuantizationExports, scratch: Scratch) {
    this.#run = exports;
    this.#scratch = scratch;
  }

  quantize(
    x: Vector,
    { levels, bucket }: Quantizer,
    scale: ScaleKind | 'given',
    noise: StreamName,
    scales: Vector,
    codes: Region,
  ): void {
    const bits = codeBits(levels);
    requireElements(scales, runsOf(x.length, bucket));
    requireCapacity(codes, packedBytes(x.length, bits));
    this.#run.nameStream(
      noise.seed,
      noise.rank ?? 0,
      noise.bucket ?? 0,
      noise.iteration ?? 0,
      noise.purpose ?? 0,
    );
    this.#run.quantize(
      x.offset,
      x.length,
      levels,
      bits,
      bucket,
      SCALES[scale],
      scales.offset,
      codes.offset,
      this.#scratch.reserve(TILES_BYTES),
      0,
    );
  }

  dequantize(
    out: Vector,
    { levels, bucket }: Quantizer,
    scales: Vector,
    codes: Region,
    add: boolean,
  ): void {
    const bits = codeBits(levels);
    requireElements(scales, runsOf(out.length, bucket));
    requireCapacity(codes, packedBytes(out.length, bits));
    this.#run.dequantize(
      out.offset,
      out.length,
      levels,
      bits,
      bucket,
      scales.offset,
      codes.offset,
      Number(add),
      this.#scratch.reserve(TILES_BYTES),
    );
  }

  largestLevel(codes: Region, count: number, levels: number): number {
    const bits = codeBits(levels);
    requireCapacity(codes, packedBytes(count, bits));
    const scratch = this.#scratch.reserve(TILES_BYTES);
    return this.#run.largestLevel(codes.offset, count, bits, scratch);
  }

  clippedMaximum(x: Vector, clip: number): number {
    const largest = this.#run.maximum(x.offset, x.length);
    if (clip === 0) return largest;
    return clippedAt(largest, clip, this.fixedSums(x));
  }

  fixedSums({ offset, length }: Vector): FixedSums {
    const exponent = exponentOf(this.#run.maximum(offset, length));
    this.#run.fixedSums(offset, length, exponent + 127);
    const squares = (this.#run.fixedSquaresHigh() << 32n) + this.#run.fixedSquaresLow();
    return { count: length, exponent, sum: this.#run.fixedSum(), squares };
  }

  eliasEncode(
    codes: Region,
    count: number,
    levels: number,
    form: EliasForm,
    out: Region,
  ): number {
    const bits = codeBits(levels);
    requireCapacity(codes, packedBytes(count, bits));
    requireCapacity(out, eliasCapacity(count, levels, form));
    const scratch = this.#scratch.reserve(ELIAS_BYTES);
    return this.#run.eliasEncode(
      codes.offset,
      count,
      bits,
      FORMS[form],
      out.offset,
      scratch,
    );
  }

  eliasDecode(data: Region, count: number, levels: number, codes: Region): number {
    const bits = codeBits(levels);
    requireCapacity(codes, packedBytes(count, bits));
    return this.#run.eliasDecode(
      data.offset,
      data.bytes,
      count,
      levels,
      bits,
      codes.offset,
      this.#scratch.reserve(ELIAS_BYTES),
    );
  }

  quantizeSigns(x: Vector, bucket: number, means: Vector, signs: Region): void {
    requireElements(means, 2 * runsOf(x.length, bucket));
    requireCapacity(signs, packedBytes(x.length, 1));
    this.#run.quantizeSigns(x.offset, x.length, bucket, means.offset, signs.offset);
  }

  dequantizeSigns(
    out: Vector,
    bucket: number,
    means: Vector,
    signs: Region,
    add: boolean,
  ): void {
    requireElements(means, 2 * runsOf(out.length, bucket));
    requireCapacity(signs, packedBytes(out.length, 1));
    this.#run.dequantizeSigns(
      out.offset,
      out.length,
      bucket,
      means.offset,
      signs.offset,
      Number(add),
    );
  }
}
