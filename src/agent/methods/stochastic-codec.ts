/**
 * Sections of stochastically rounded levels, laid out in `work/section-layout.ts`. The noise
 * of an element is a function of (seed, rank, bucket, iteration, section, element), so that
 * it differs between ranks and never repeats.
 */
import type { Region } from '../memory/arena.ts';
import { codeBits, packedBytes, runsOf } from '../kernels/quantization.ts';
import { packedCodeBytes, partsOf } from '../work/section-layout.ts';
import { longestCoded, type LevelCoding } from '../work/sections.ts';
import { expectedEliasBytes } from './elias-estimate.ts';
import type { CompressorContext } from './method.ts';
import { payloadInvalid, requireScales } from './payload-check.ts';
import {
  sectionsOf,
  type MeasuredSection,
  type SectionCodec,
} from './sectioned-compressor.ts';

/** Bytes of a section of n elements: exact for packed codes, otherwise expected. */
export function stochasticBytes(n: number, options: LevelCoding): number {
  const { runLength, coding, levels, scale } = options;
  const codes =
    coding === 'packed'
      ? packedBytes(n, codeBits(levels))
      : expectedEliasBytes(n, {
          levels,
          runLength,
          scale: scale === 'l2' ? 'l2' : 'max',
          form: coding,
        });
  return 4 * runsOf(n, runLength) + codes;
}

/**
 * The bound of E‖Q(v) − v‖² / ‖v‖² for runs of d elements and s levels: min(d/s², √d/s). The
 * proof needs a scale that no |v| exceeds and that is at most ‖v‖₂, so it holds of the largest
 * magnitude, too, with which the error is about half as large or less.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), Lemma 3.1; "QSGD Variants" says of √d levels that
 * the largest magnitude keeps the bounds.
 */
export const levelErrorBound = (s: number, d: number): number =>
  Math.min(d / (s * s), Math.sqrt(d) / s);

export class StochasticCodec<V> implements SectionCodec {
  readonly coding: LevelCoding;
  readonly #method: string;
  readonly #context: CompressorContext<{ readonly minElements: number }, V>;
  /** Packed codes of a section that arrived as a stream. */
  readonly #packed: Region | undefined;

  constructor(
    method: string,
    context: CompressorContext<{ readonly minElements: number }, V>,
    coding: LevelCoding,
  ) {
    this.coding = coding;
    this.#method = method;
    this.#context = context;
    if (coding.coding !== 'packed') {
      const bytes = packedCodeBytes(longestCoded(sectionsOf(context)), coding);
      this.#packed = context.work.region(bytes);
    }
  }

  measure(data: Region, n: number): MeasuredSection {
    const { arena } = this.#context.work;
    const { numbers, codes } = partsOf(data, n, this.coding);
    if (codes.bytes < 0)
      throw payloadInvalid(this.#method, 'it ends within its scales');
    requireScales(this.#method, arena.f32(numbers));
    const bytes =
      this.#packed === undefined
        ? this.#measurePacked(codes, n)
        : this.#unpack(codes, n, this.#packed);
    if (bytes < 0) {
      throw payloadInvalid(this.#method, 'its codes are malformed or truncated');
    }
    return {
      kind: 'coded',
      bytes: 4 * numbers.length + bytes,
      numbers,
      codes: this.#packed ?? codes,
    };
  }

  /** Bytes of the codes, or −1. */
  #measurePacked(codes: Region, n: number): number {
    const { levels } = this.coding;
    const bytes = packedCodeBytes(n, this.coding);
    if (codes.bytes < bytes) return -1;
    // With 2ᵇ⁻¹ − 1 levels every code is valid.
    if (levels + 1 === 2 ** (codeBits(levels) - 1)) return bytes;
    const { quantization } = this.#context.work.kernels;
    const largest = quantization.largestLevel(codes, n, levels);
    return largest > levels ? -1 : bytes;
  }

  /** Bytes of the stream, or −1. */
  #unpack(codes: Region, n: number, packed: Region): number {
    const { quantization } = this.#context.work.kernels;
    return quantization.eliasDecode(codes, n, this.coding.levels, packed);
  }
}
