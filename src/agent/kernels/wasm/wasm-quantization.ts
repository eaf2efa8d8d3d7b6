/**
 * The quantising kernels in WebAssembly, on one thread or several. Slices begin at runs
 * of elements that share a scale, where packed codes begin a byte; a single run has its
 * scale computed first. Elias codes cannot be entered in the middle, so one thread
 * handles them.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import {
  clippedAt,
  exponentOf,
  roundedNormOf,
  type FixedSums,
} from '../fixed-point.ts';
import {
  codeBits,
  eliasCapacity,
  FORM_CODES,
  packedBytes,
  runsOf,
  type EliasForm,
  type QuantizationKernels,
  type Quantizer,
  type ScaleKind,
} from '../quantization.ts';
import { requireCapacity, requireElements } from '../preconditions.ts';
import type { RandomStream } from '../random.ts';
import { SLICE } from './job-board.ts';
import type { At, Elements, Of } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';
import { Scratch } from './scratch.ts';

type X = Elements<'x'>;
type Out = Elements<'out'>;
type Scales = Vector & At<'scales'>;
type Means = Vector & At<'means'>;
type Codes = Region & At<'codes'>;
type Signs = Region & At<'signs'>;
type Bytes = Region & At<'bytes'>;
type Runs = Quantizer & { readonly runLength: Of<'runLength'> };

/** Numbers of the kinds of scales, as in assembly/quantize.ts. */
const SCALES = { max: 0, l2: 1, given: 2 } as const;

const ELIAS_BYTES = 128 + 2 * 2048;
const FIRST = 0 as Of<'first'>;

export class WasmQuantization implements QuantizationKernels {
  readonly #arena: Arena;
  readonly #pool: KernelPool;
  readonly #elias: Scratch;
  readonly #sums: Scratch;

  constructor(arena: Arena, pool: KernelPool) {
    this.#arena = arena;
    this.#pool = pool;
    this.#elias = new Scratch(arena);
    this.#sums = new Scratch(arena);
  }

  quantize(
    x: X,
    { levels, runLength }: Runs,
    scale: ScaleKind | 'given',
    { seed, rank = 0, bucket: of = 0, iteration = 0, purpose = 0 }: RandomStream,
    scales: Scales,
    codes: Codes,
  ): void {
    const n = x.length;
    const bits = codeBits(levels) as Of<'bits'>;
    requireElements(scales, runsOf(n, runLength));
    requireCapacity(codes, packedBytes(n, bits));
    let kind = scale;
    if (kind !== 'given' && runLength >= n && n >= this.#pool.sharedFrom) {
      this.#arena.f32(scales)[0] =
        kind === 'max' ? this.#maximum(x) : roundedNormOf(this.fixedSums(x));
      kind = 'given';
    }
    this.#pool
      .over(n)
      .quantize(
        x.offset,
        n,
        levels,
        bits,
        runLength,
        SCALES[kind],
        scales.offset,
        codes.offset,
        this.#pool.tiles,
        FIRST,
        seed,
        rank,
        of,
        iteration,
        purpose,
      );
  }

  dequantize(
    { offset, length }: Out,
    { levels, runLength }: Runs,
    scales: Scales,
    codes: Codes,
    add: boolean,
  ): void {
    const bits = codeBits(levels) as Of<'bits'>;
    requireElements(scales, runsOf(length, runLength));
    requireCapacity(codes, packedBytes(length, bits));
    this.#pool
      .over(length)
      .dequantize(
        offset,
        length,
        levels,
        bits,
        runLength,
        scales.offset,
        codes.offset,
        Number(add),
        this.#pool.tiles,
      );
  }

  largestLevel(codes: Codes, count: Of<'n'>, levels: number): number {
    const bits = codeBits(levels) as Of<'bits'>;
    requireCapacity(codes, packedBytes(count, bits));
    const run = this.#pool.over(count);
    return run.largestLevel(codes.offset, count, bits, this.#pool.tiles);
  }

  clippedMaximum(x: X, clip: number): number {
    const largest = this.#maximum(x);
    return clip === 0 ? largest : clippedAt(largest, clip, this.fixedSums(x));
  }

  fixedSums(x: X): FixedSums {
    const count = x.length;
    const run = this.#pool.over(count);
    const exponent = exponentOf(run.maximum(x.offset, count));
    const sums = this.#sums.i64(3 * Math.max(1, Math.ceil(count / SLICE)));
    const place = sums.byteOffset as Of<'sums'>;
    const parts = run.storeFixedSums(x.offset, count, exponent + 127, place);
    let sum = sums[0]!;
    let low = sums[1]!;
    let high = sums[2]!;
    for (let at = 3; at < 3 * parts; at += 3) {
      sum += sums[at]!;
      low += sums[at + 1]!;
      high += sums[at + 2]!;
    }
    return { count, exponent, sum, squares: (high << 32n) + low };
  }

  eliasEncode(
    codes: Codes,
    count: Of<'n'>,
    levels: number,
    form: EliasForm,
    out: Bytes,
  ): number {
    const bits = codeBits(levels) as Of<'bits'>;
    requireCapacity(codes, packedBytes(count, bits));
    requireCapacity(out, eliasCapacity(count, levels, form));
    const { eliasEncode } = this.#pool.exports;
    const scratch = this.#elias.reserve(ELIAS_BYTES) as Of<'scratch'>;
    return eliasEncode(
      codes.offset,
      count,
      bits,
      FORM_CODES[form],
      out.offset,
      scratch,
    );
  }

  eliasDecode(data: Bytes, count: Of<'n'>, levels: number, codes: Codes): number {
    const bits = codeBits(levels) as Of<'bits'>;
    requireCapacity(codes, packedBytes(count, bits));
    const { eliasDecode } = this.#pool.exports;
    return eliasDecode(
      data.offset,
      data.bytes,
      count,
      levels,
      bits,
      codes.offset,
      this.#elias.reserve(ELIAS_BYTES) as Of<'scratch'>,
    );
  }

  quantizeSigns(x: Out, runLength: Of<'runLength'>, means: Means, signs: Signs): void {
    requireElements(means, 2 * runsOf(x.length, runLength));
    requireCapacity(signs, packedBytes(x.length, 1));
    const run = this.#pool.over(x.length);
    run.quantizeSigns(x.offset, x.length, runLength, means.offset, signs.offset);
  }

  dequantizeSigns(
    { offset, length }: Out,
    runLength: Of<'runLength'>,
    means: Means,
    signs: Signs,
    add: boolean,
  ): void {
    requireElements(means, 2 * runsOf(length, runLength));
    requireCapacity(signs, packedBytes(length, 1));
    const run = this.#pool.over(length);
    const from = signs.offset;
    run.dequantizeSigns(offset, length, runLength, means.offset, from, Number(add));
  }

  #maximum({ offset, length }: X): number {
    return this.#pool.over(length).maximum(offset, length);
  }
}
