/**
 * Sums of f32 in fixed point, from which scales, means and deviations are computed.
 * Integers add up to the same sum in any order, so a loop, vectors of four, threads and a
 * GPU agree to the bit, and nothing cancels.
 *
 * Of elements whose largest magnitude lies in [2ᵉ, 2ᵉ⁺¹), or below it for e = −126, an
 * entry counts ⌊|v| / 2ᵉ⁻²⁷⌋ units, less than 2²⁸, with its sign if signs matter: exact
 * for the largest element and for elements up to 16 times smaller. Sums of these, and of
 * their squares, are exact. A norm is never below the largest magnitude, even rounded,
 * and the mean of equal elements is theirs.
 *
 * This file has what is done once per sum, and the slow version for the reference.
 */
import { bitsOf } from './float-bits.ts';

/** Sums over `count` elements. */
export interface FixedSums {
  readonly count: number;
  /** e */
  readonly exponent: number;
  /** Sum of the elements, in units. */
  readonly sum: bigint;
  /** Sum of their squares, in units squared. */
  readonly squares: bigint;
}

/** Largest finite f32. */
const LARGEST = (2 - 2 ** -23) * 2 ** 127;
const SIGNIFICANT = 24;
const LEAST_EXPONENT = -149;

/** e, of the largest magnitude of some elements. */
export function exponentOf(largest: number): number {
  return Math.max(bitsOf(largest) >>> 23, 1) - 127;
}

/** The value of one unit. */
function unitOf(exponent: number): number {
  return 2 ** (exponent - 27);
}

/** Both sums, entry by entry. */
export function fixedSumsOf(values: Float32Array): FixedSums {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const exponent = exponentOf(largest);
  let [sum, squares] = [0n, 0n];
  for (const value of values) {
    const units = BigInt(Math.trunc(value / unitOf(exponent)));
    sum += units;
    squares += units * units;
  }
  return { count: values.length, exponent, sum, squares };
}

/** Mean and standard deviation, divided by the count, in f64; 0 without elements. */
export function momentsOf({ count, exponent, sum, squares }: FixedSums): {
  readonly mean: number;
  readonly deviation: number;
} {
  if (count === 0) return { mean: 0, deviation: 0 };
  const spread = BigInt(count) * squares - sum * sum;
  return {
    mean: (Number(sum) / count) * unitOf(exponent),
    deviation: (Math.sqrt(Number(spread)) / count) * unitOf(exponent),
  };
}

/** The norm, in f64. */
export function normOf({ exponent, squares }: FixedSums): number {
  return Math.sqrt(Number(squares)) * unitOf(exponent);
}

/** The norm, rounded to f32, halves up. */
export function roundedNormOf({ exponent, squares }: FixedSums): number {
  return rounded(integerRoot(squares), exponent - 27);
}

/**
 * The mean of elements of one sign, rounded to f32, halves away from 0; 0 without elements.
 */
export function roundedMeanOf({ count, exponent, sum }: FixedSums): number {
  if (count === 0) return 0;
  // 25 bits of the quotient, wherever they are: it is above 2⁻³².
  const mean = (sum << 64n) / BigInt(count);
  return mean < 0n
    ? -rounded(-mean, exponent - 27 - 64)
    : rounded(mean, exponent - 27 - 64);
}

/**
 * The largest magnitude, but at most `clip` standard deviations unless those are 0.
 *
 * Source: TernGrad (Wen et al., NeurIPS 2017), section 3.4.
 */
export function clippedAt(largest: number, clip: number, sums: FixedSums): number {
  const limit = Math.fround(clip * momentsOf(sums).deviation);
  return limit > 0 && limit < largest ? limit : largest;
}

/** m · 2^exponent, rounded; m may be a truncated number. */
function rounded(m: bigint, exponent: number): number {
  const bits = m.toString(2).length;
  const drop = Math.max(0, bits - SIGNIFICANT, LEAST_EXPONENT - exponent);
  const half = drop > 0 ? 1n << BigInt(drop - 1) : 0n;
  const kept = Number((m + half) >> BigInt(drop));
  return Math.min(kept * 2 ** (exponent + drop), LARGEST);
}

/** ⌊√m⌋ */
function integerRoot(m: bigint): bigint {
  let root = BigInt(Math.floor(Math.sqrt(Number(m))));
  while (root * root > m) root--;
  while ((root + 1n) * (root + 1n) <= m) root++;
  return root;
}
