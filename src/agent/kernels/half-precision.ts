/**
 * Values of 16 bits: bfloat16 (8 bits of exponent, 7 of fraction) and IEEE 754 binary16 (5 and
 * 10). A part of `Kernels`. Values are little-endian and need no alignment beyond 2 bytes.
 *
 * Rounding: `nearest` ties to even. At random, a value between two neighbours goes up with the
 * probability of its distance from the lower one, so that its expectation is itself, up to
 * 2⁻¹⁶ of the gap: 16 random bits decide, those of element i being half i mod 2 of word
 * ⌊i/2⌋ of the stream (the lower half first). Subnormals are kept. What is too large becomes
 * the largest finite value, not infinity: one infinite sum would spoil all weights.
 *
 * Sources: IEEE 754-2019, binary16; bfloat16: Intel, "BFLOAT16 – Hardware Numerics
 * Definition" (2018). Random rounding: Gupta et al., ICML 2015, section 3.1.
 */
import type { Arena, Region, Vector } from '../memory/arena.ts';
import type { HalfType } from '../memory/value-type.ts';
import { requireSameLength } from './preconditions.ts';
import type { RandomStream } from './random.ts';
import type { ReduceOperation, ReductionKernels } from './reduction.ts';

export interface HalfPrecisionKernels {
  /**
   * out ← x · factor, the product rounded to f32 first. `out` has 2 bytes per element, in
   * separate memory. x must be finite.
   * @param noise names the random bits; default: round to nearest
   */
  narrow(
    type: HalfType,
    x: Vector,
    factor: number,
    out: Region,
    noise?: RandomStream,
  ): void;
  /** out ← values of `data`, exact; `data` has 2 bytes per element, in separate memory. */
  widen(type: HalfType, data: Region, out: Vector): void;
  /** Position of the first value that is NaN or infinite; −1 if there is none. */
  firstNonFinite(type: HalfType, data: Region): number;
  /** out ← out + x: widened, added in f32 and rounded to nearest. */
  add(type: HalfType, out: Vector, x: Vector): void;
}

/** Bits of a value's exponent, all set: infinity, or with a fraction NaN. */
export const EXPONENT_BITS: Readonly<Record<HalfType, number>> = {
  bfloat16: 0x7f80,
  binary16: 0x7c00,
};

/**
 * Sums of 16-bit values, for collectives of dense vectors: `Vector.length` counts values of 2
 * bytes.
 */
class HalfPrecisionSums implements ReductionKernels {
  readonly #arena: Arena;
  readonly #kernels: HalfPrecisionKernels;
  readonly #type: HalfType;

  constructor(arena: Arena, kernels: HalfPrecisionKernels, type: HalfType) {
    this.#arena = arena;
    this.#kernels = kernels;
    this.#type = type;
  }

  clear(operation: ReduceOperation, { offset, length }: Vector): void {
    requireSum(operation);
    this.#arena.u8(offset, 2 * length).fill(0);
  }

  combine(operation: ReduceOperation, out: Vector, x: Vector): void {
    requireSum(operation);
    requireSameLength(out, x);
    this.#kernels.add(this.#type, out, x);
  }

  scatter(): never {
    throw sparse();
  }

  merge(): never {
    throw sparse();
  }

  firstDisordered(): never {
    throw sparse();
  }

  firstAtLeast(): never {
    throw sparse();
  }
}

export const halfPrecisionSums = (
  arena: Arena,
  kernels: HalfPrecisionKernels,
): Readonly<Record<HalfType, ReductionKernels>> => ({
  bfloat16: new HalfPrecisionSums(arena, kernels, 'bfloat16'),
  binary16: new HalfPrecisionSums(arena, kernels, 'binary16'),
});

const sparse = (): Error => new Error('internal: a sparse stream of 16-bit values');

function requireSum(operation: ReduceOperation): void {
  if (operation !== 'sum') throw new Error(`internal: a ${operation} of 16-bit values`);
}

/** @throws Error if the memory does not hold 2 bytes for each of `length` values */
export function requireHalves({ bytes }: Region, length: number): void {
  if (bytes < 2 * length) {
    throw new Error(`internal: ${bytes} bytes for ${length} values of 16 bits`);
  }
}
