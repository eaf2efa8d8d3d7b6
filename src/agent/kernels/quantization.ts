/**
 * Kernels of the quantising methods, and the arithmetic that all backends share bit for
 * bit. Every operation below is rounded to f32 unless it says f64.
 *
 * **Scale** of a run of d consecutive elements: the largest |v|; or ‖v‖₂, its squares
 * summed in fixed point (`fixed-point.ts`), the root rounded to f32: never below the
 * largest |v|, and at most the largest finite f32.
 *
 * **Code** of an element: one sign bit (1 where v < 0, so ±0 are positive) above the
 * level, 0 … s. With lift = 2⁶⁴ where the scale is below 2⁻⁶⁴, 2⁻⁶⁴ where it is above
 * 2⁶⁴, else 1, and factor = 65536·s / (scale · lift) (0 where the scale is 0):
 *
 *     y = min((|v| · lift) · factor, 65536 · s)
 *
 * is the level in units of 2⁻¹⁶. ℓ = ⌊y / 65536⌋ becomes ℓ + 1 with probability
 * y / 65536 − ℓ: where ⌊y⌋ mod 65536 exceeds the element's 16 random bits; where it
 * equals them (once in 65,536), where y − ⌊y⌋ exceeds a further uniform number of 24
 * bits. So the rounding is unbiased to 2⁻⁴⁰ of a level, at two random bytes an element.
 *
 * **Random bits**: with the stream of `random.ts` that `noise` names, element i takes
 * half i mod 2 (0: the lower) of word ⌊i/2⌋; its further number is uniform(2³³ + i).
 *
 * **Value** of a code: ± level · (scale / s), 0 for level 0. Where the scale is below 2⁻⁶⁴
 * this is level · (scale · 2⁶⁴ / s) · 2⁻⁶⁴, which is the same number, to the bit, unless
 * scale / s is below 2⁻¹²⁶ and has few bits left. So a value is within 2⁻¹⁵⁰ of the level
 * that it stands for, and unbiased but for that.
 *
 * **Packed codes**: b = `codeBits(s)` bits each, code i in the bits b·i … b·i + b − 1 of
 * the region, where bit j is bit j mod 8 (0: the lowest) of byte ⌊j/8⌋; zeros up to the
 * next multiple of 4 bytes.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 3.1.
 */
import type { Region, Vector } from '../memory/arena.ts';
import type { FixedSums } from './fixed-point.ts';
import type { RandomStream } from './random.ts';

/** The most levels: y stays below 2³¹. */
export const MAXIMUM_LEVELS = 32_767;

export interface Quantizer {
  /** s: positive levels, 1 … `MAXIMUM_LEVELS`. */
  readonly levels: number;
  /** d: elements that share a scale, ≥ 1; the last run may be shorter. */
  readonly runLength: number;
}

export type ScaleKind = 'max' | 'l2';

/** The form in which Elias ω codes of codes are written; see `eliasEncode`. */
export type EliasForm = 'auto' | 'sparse' | 'dense';

/** Numbers of the forms in the kernels of every backend. */
export const FORM_CODES = { auto: 0, sparse: 1, dense: 2 } as const;

export interface QuantizationKernels {
  /**
   * Scales and packed codes of x. `scales` has an element for each run.
   * @param scale how scales are computed; `given`: they are in `scales` already, and
   * elements beyond them are taken as ± scale
   */
  quantize(
    x: Vector,
    quantizer: Quantizer,
    scale: ScaleKind | 'given',
    noise: RandomStream,
    scales: Vector,
    codes: Region,
  ): void;
  /** out ← out + values of the packed codes, or the values alone. */
  dequantize(
    out: Vector,
    quantizer: Quantizer,
    scales: Vector,
    codes: Region,
    add: boolean,
  ): void;
  /**
   * The largest level among `count` packed codes; if it exceeds s, the codes are invalid
   * for s levels.
   */
  largestLevel(codes: Region, count: number, levels: number): number;
  /**
   * The largest |x|, but at most `clip` standard deviations of x. If clip or the
   * deviation is 0: the largest |x|.
   */
  clippedMaximum(x: Vector, clip: number): number;
  /** The sums behind norms, means and deviations of x, in x's own units. */
  fixedSums(x: Vector): FixedSums;

  /**
   * Packed codes as a stream of Elias ω codes. Bits are written from the highest of each
   * byte to the lowest; ω(k) is the recursive code of k ≥ 1. First one bit: 1 dense, 0
   * sparse. Dense: for each element ω(level + 1) and, unless the level is 0, the sign.
   * Sparse: for each element of level > 0 ω(gap), sign, ω(level), where the gap is the
   * distance to the last such element (of the first: index + 1); then ω(n − last index),
   * which ends the stream. `auto` chooses the shorter form, dense if both are equal.
   * Zeros follow up to a multiple of 4 bytes.
   *
   * `out` must hold `eliasCapacity` bytes. Returns the bytes written.
   *
   * Source: QSGD, appendix A; ω: Elias, IEEE Trans. Inf. Theory 21 (1975).
   */
  eliasEncode(
    codes: Region,
    count: number,
    levels: number,
    form: EliasForm,
    out: Region,
  ): number;
  /**
   * Reads `count` elements of such a stream into packed codes. Total: for any bytes, it
   * reads only `data` and writes only the packed codes.
   * @returns bytes read, or −1 if the bytes are not such a stream
   */
  eliasDecode(data: Region, count: number, levels: number, codes: Region): number;

  /**
   * Signs and means of each run of `runLength` elements; x ← x − the values that they
   * represent. `means` gets two f32 per run: the mean of its elements ≥ 0 and the mean of
   * its elements < 0 (each 0 if there is none), summed in fixed point, each class in units
   * of its own largest magnitude, and rounded to f32. `signs` gets bit i mod 8 of byte
   * ⌊i/8⌋ for element i, 1 where x < 0; zeros up to a multiple of 4 bytes. An element
   * represents the mean of its sign.
   *
   * Source: 1-bit SGD (Seide et al., Interspeech 2014).
   */
  quantizeSigns(x: Vector, runLength: number, means: Vector, signs: Region): void;
  /** out ← out + the values of signs and means, or those values alone. */
  dequantizeSigns(
    out: Vector,
    runLength: number,
    means: Vector,
    signs: Region,
    add: boolean,
  ): void;
}

/** Bits of a packed code: a sign and a level of at most s. */
export const codeBits = (levels: number): number => 33 - Math.clz32(levels);

/** The factors of a run's values: level · unit · factor. */
export interface LevelUnit {
  readonly unit: number;
  /** 2⁻⁶⁴ if the unit has been lifted, else 1. */
  readonly factor: number;
}

/** The least scale that is not lifted before it is divided by the levels. */
const LIFTED_BELOW = 2 ** -64;

export function levelUnit(scale: number, levels: number): LevelUnit {
  return scale < LIFTED_BELOW
    ? { unit: Math.fround((scale * 2 ** 64) / levels), factor: 2 ** -64 }
    : { unit: Math.fround(scale / levels), factor: 1 };
}

/** The number of runs of at most `runLength` elements in n elements. */
export const runsOf = (n: number, runLength: number): number =>
  Math.ceil(n / runLength);

/** Bytes of `count` fields of `bits` bits: whole words of 4 bytes. */
export const packedBytes = (count: number, bits: number): number =>
  4 * Math.ceil((count * bits) / 32);

/** Bits of ω(k), k ≥ 1. */
export function omegaLength(k: number): number {
  let length = 1;
  for (let rest = k; rest > 1;) {
    const bits = 32 - Math.clz32(rest);
    length += bits;
    rest = bits - 1;
  }
  return length;
}

/**
 * Bytes that `eliasEncode` may need for n elements of s levels in this form. The longest
 * sparse stream has no zeros.
 */
export function eliasCapacity(n: number, levels: number, form: EliasForm): number {
  const dense = 1 + omegaLength(levels + 1);
  const sparse = 2 + omegaLength(levels);
  const bits = form === 'sparse' ? sparse : dense;
  return packedBytes(2 + n * bits, 1);
}
