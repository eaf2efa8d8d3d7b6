/**
 * The part of a gradient that other methods would keep, as its squared norm: the largest elements at some
 * ratios, and the signs with one magnitude. Both are projections q of the gradient y, so that
 * cos(q, y) = ‖q‖/‖y‖. One pass over the elements, and a histogram of their magnitudes; the boundary of
 * the largest is exact to 1 part in 256 of a magnitude.
 */
import type { RivalMethod } from '../../../shared/records/comparison.ts';

const RATIOS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2] as const;

const RIVALS: readonly Omit<RivalMethod, 'cosine'>[] = [
  ...RATIOS.map((ratio) => ({ keeps: 'largest' as const, ratio })),
  { keeps: 'signs' },
];

/** Magnitudes are told apart by 8 bits of exponent and 8 of mantissa. */
const SHIFT = 15;
const BINS = 1 << (31 - SHIFT);

/** ‖q‖² for each rival method, in their order. */
export function keptSquares(y: Float32Array): readonly number[] {
  const bits = new Uint32Array(y.buffer, y.byteOffset, y.length);
  const counts = new Uint32Array(BINS);
  const squares = new Float64Array(BINS);
  let magnitudes = 0;
  for (let i = 0; i < y.length; i++) {
    const bin = (bits[i]! & 0x7fff_ffff) >>> SHIFT;
    const value = y[i]!;
    counts[bin]! += 1;
    squares[bin]! += value * value;
    magnitudes += Math.abs(value);
  }
  const kept: number[] = [];
  let bin = BINS;
  let [count, square] = [0, 0];
  for (const ratio of RATIOS) {
    const wanted = Math.ceil(ratio * y.length);
    while (bin > 0 && count + counts[bin - 1]! <= wanted) {
      bin--;
      count += counts[bin]!;
      square += squares[bin]!;
    }
    const part = bin === 0 ? 0 : (wanted - count) / counts[bin - 1]!;
    kept.push(square + (part > 0 ? part * squares[bin - 1]! : 0));
  }
  kept.push(y.length === 0 ? 0 : (magnitudes * magnitudes) / y.length);
  return kept;
}

/**
 * Rival methods with their cosines.
 * @param kept their values, summed over ranks
 * @param reference ‖y‖², summed over ranks
 */
export const rivalsOf = (
  kept: readonly number[],
  reference: number,
): readonly RivalMethod[] =>
  RIVALS.flatMap((rival, at) => {
    const cosine = Math.min(1, Math.sqrt(kept[at]! / reference));
    return Number.isFinite(cosine) ? [{ ...rival, cosine }] : [];
  });
