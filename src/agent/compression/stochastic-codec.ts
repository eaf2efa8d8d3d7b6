/**
 * Sections of stochastically rounded levels. A section of n elements in runs of d is
 *
 *     scales   ⌈n/d⌉ × f32, finite, ≥ 0
 *     codes    packed: n codes of b bits, padded to whole words of 4 bytes
 *              elias:  a stream of Elias ω codes, padded to whole words of 4 bytes
 *
 * `kernels/quantization.ts` defines both, and the arithmetic. The noise of an element is
 * a function of (seed, rank, bucket, iteration, section, element), so that it differs
 * between ranks and never repeats.
 */
import type { Region, Vector } from '../memory/arena.ts';
import {
  codeBits,
  eliasCapacity,
  packedBytes,
  runsOf,
  type EliasForm,
  type ScaleKind,
} from '../kernels/quantization.ts';
import { expectedEliasBytes } from './elias-estimate.ts';
import type { CompressorContext } from './method.ts';
import { payloadInvalid } from './payload-check.ts';
import type { SectionCodec } from './sectioned-compressor.ts';

/** Stream purposes below this are reserved for other users. */
export const NOISE_PURPOSE = 1 << 16;

export interface StochasticOptions {
  /** s */
  readonly levels: number;
  /** d */
  readonly bucket: number;
  /** A kind of scale, or the largest |v| after clipping at this many deviations. */
  readonly scale: ScaleKind | { readonly clip: number };
  readonly coding: 'packed' | EliasForm;
}

/** Bytes of a section of n elements: exact where codes are packed, else expected. */
export function stochasticBytes(n: number, options: StochasticOptions): number {
  const { bucket, coding, levels, scale } = options;
  const codes =
    coding === 'packed'
      ? packedBytes(n, codeBits(levels))
      : expectedEliasBytes(n, {
          levels,
          bucket,
          scale: scale === 'l2' ? 'l2' : 'max',
          form: coding,
        });
  return 4 * runsOf(n, bucket) + codes;
}

export class StochasticCodec implements SectionCodec {
  readonly #method: string;
  readonly #context: CompressorContext<{ readonly minElements: number }>;
  readonly #options: StochasticOptions;
  /** Packed codes of a section on their way to or from their stream. */
  readonly #packed: Region | undefined;

  constructor(
    method: string,
    context: CompressorContext<{ readonly minElements: number }>,
    options: StochasticOptions,
  ) {
    this.#method = method;
    this.#context = context;
    this.#options = options;
    if (options.coding !== 'packed') {
      const longest = Math.max(0, ...context.tensors.map(({ length }) => length));
      const bytes = packedBytes(longest, codeBits(options.levels));
      this.#packed = context.arena.allocate(bytes);
    }
  }

  capacity(n: number): number {
    const { coding, levels } = this.#options;
    const codes =
      coding === 'packed'
        ? packedBytes(n, codeBits(levels))
        : eliasCapacity(n, levels, coding);
    return this.#scaleBytes(n) + codes;
  }

  encode(x: Vector, section: number, iteration: number, out: Region): number {
    const { seed, rank, bucket, kernels } = this.#context;
    const { levels, coding, scale } = this.#options;
    const { quantization } = kernels;
    const [scales, codes] = this.#split(out, x.length);
    if (typeof scale === 'object') {
      kernels.fill(scales, quantization.clippedMaximum(x, scale.clip));
    }
    quantization.quantize(
      x,
      this.#options,
      typeof scale === 'object' ? 'given' : scale,
      { seed, rank, bucket, iteration, purpose: NOISE_PURPOSE + section },
      scales,
      this.#packed ?? codes,
    );
    const bytes =
      this.#packed === undefined || coding === 'packed'
        ? packedBytes(x.length, codeBits(levels))
        : quantization.eliasEncode(this.#packed, x.length, levels, coding, codes);
    return this.#scaleBytes(x.length) + bytes;
  }

  measure(data: Region, n: number): number {
    const { levels } = this.#options;
    const [scales, codes] = this.#split(data, n);
    if (codes.bytes < 0) throw payloadInvalid(this.#method, 'it ends in its scales');
    requireScales(this.#method, this.#context.arena.f32(scales));
    const bytes =
      this.#packed === undefined
        ? this.#measurePacked(codes, n)
        : this.#context.kernels.quantization.eliasDecode(
            codes,
            n,
            levels,
            this.#packed,
          );
    if (bytes < 0) {
      throw payloadInvalid(this.#method, 'its codes are malformed or truncated');
    }
    return this.#scaleBytes(n) + bytes;
  }

  decode(data: Region, out: Vector, add: boolean): void {
    const { scales, codes } = this.partsOf(data, out.length);
    this.#context.kernels.quantization.dequantize(
      out,
      this.#options,
      scales,
      codes,
      add,
    );
  }

  /** Scales and packed codes of the section of n elements that was measured last. */
  partsOf(
    data: Region,
    n: number,
  ): { readonly scales: Vector; readonly codes: Region } {
    const [scales, codes] = this.#split(data, n);
    return { scales, codes: this.#packed ?? codes };
  }

  [Symbol.dispose](): void {
    if (this.#packed !== undefined) this.#context.arena.release(this.#packed);
  }

  #measurePacked(codes: Region, n: number): number {
    const { levels } = this.#options;
    const bits = codeBits(levels);
    const bytes = packedBytes(n, bits);
    if (codes.bytes < bytes) return -1;
    // Of 2ᵇ⁻¹ − 1 levels every code is one.
    if (levels + 1 === 2 ** (bits - 1)) return bytes;
    const { quantization } = this.#context.kernels;
    const largest = quantization.largestLevel(codes, n, levels);
    return largest > levels ? -1 : bytes;
  }

  #scaleBytes(n: number): number {
    return 4 * runsOf(n, this.#options.bucket);
  }

  /** Scales, and what follows them: of a negative length, if there is too little. */
  #split({ offset, bytes }: Region, n: number): [Vector, Region] {
    const scaleBytes = this.#scaleBytes(n);
    return [
      { offset, length: scaleBytes / 4 },
      { offset: offset + scaleBytes, bytes: bytes - scaleBytes },
    ];
  }
}

/** @throws GradwireError `PAYLOAD_INVALID` unless all are finite and none is negative */
export function requireScales(method: string, scales: Float32Array): void {
  for (const scale of scales) {
    if (!(scale >= 0 && scale < Infinity)) {
      throw payloadInvalid(method, `a scale is ${scale}`);
    }
  }
}
