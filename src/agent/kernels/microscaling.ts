/**
 * Floats of 8 bits in blocks that share a scale: a part of `Kernels`. The formats are those of
 * the OCP Microscaling specification (MXFP8): blocks of 32 elements, a scale that is a power of
 * two in 8 bits (E8M0: 2^(code − 127)), and elements E4M3 or E5M2: a sign, 4 or 5 bits of
 * exponent, 3 or 2 of fraction, subnormals included.
 *
 * The scale of a block is the smallest power of two by which no element exceeds the largest
 * finite value, 1.75 · 2⁸ or 1.75 · 2¹⁵. The specification rounds the exponent down, after which
 * elements are cut by up to an eighth; rounded up, none is (Mishra et al., section 3). Scales
 * end where the largest value would leave the range of f32: only magnitudes beyond
 * 1.75 · 2¹²⁷ are cut, and every code stands for a finite f32.
 *
 * Rounding: `nearest` ties to even. At random, a value goes up with the probability of its
 * distance from the lower neighbour; 16 random bits decide, as `half-precision.ts` takes them.
 *
 * Sources: OCP Microscaling Formats (MX) Specification, version 1.0 (2023), sections 5 and 6;
 * Micikevicius et al., "FP8 Formats for Deep Learning" (2022), arXiv:2209.05433; Mishra et al.,
 * "Recipes for Pre-training LLMs with MXFP8" (2025), arXiv:2506.08027.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { RandomStream } from './random.ts';

export type Float8Type = 'e4m3' | 'e5m2';

/** Elements that share a scale. */
export const SCALE_BLOCK = 32;

/** The scale of a block that has an element that is NaN or infinite: NaN in E8M0. */
export const NAN_SCALE = 255;

export interface Float8Format {
  /** Bits of the fraction. */
  readonly fraction: number;
  /** Number that is added to an exponent in a code. */
  readonly bias: number;
  /** The exponent of the largest finite value, 1.75 · 2^most. */
  readonly most: number;
  /** The largest code of a finite value without its sign. */
  readonly largest: number;
}

export const FLOAT8: Readonly<Record<Float8Type, Float8Format>> = {
  e4m3: { fraction: 3, bias: 7, most: 8, largest: 0x7e },
  e5m2: { fraction: 2, bias: 15, most: 15, largest: 0x7b },
};

export interface MicroscalingKernels {
  /**
   * Writes a scale for each block of x, ⌈n/32⌉ bytes, and a code for each element, n bytes.
   * A block that is not finite has the scale `NAN_SCALE`, and codes that mean nothing.
   * @param noise names the random bits; default: round to nearest
   */
  encode(
    type: Float8Type,
    x: Vector,
    scales: Region,
    codes: Region,
    noise?: RandomStream,
  ): void;
  /** out ← the values of `out.length` codes, exact. */
  decode(type: Float8Type, scales: Region, codes: Region, out: Vector): void;
  /** Position of the first of the codes that is NaN or infinite; −1 if there is none. */
  firstNonFinite(type: Float8Type, codes: Region): number;
}

/** The largest scale: a larger one would make the largest value infinite. */
export const largestScale = (type: Float8Type): number => 254 - FLOAT8[type].most;

/** Scales of n elements. */
export const blocksOf = (n: number): number => Math.ceil(n / SCALE_BLOCK);

/** @throws Error if the memory does not hold the scales and codes of n elements */
export function requireBlocks(n: number, scales: Region, codes: Region): void {
  if (scales.bytes < blocksOf(n) || codes.bytes < n) {
    throw new Error(
      `internal: ${scales.bytes} and ${codes.bytes} bytes for ${n} values of 8 bits`,
    );
  }
}
