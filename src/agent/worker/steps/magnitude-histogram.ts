/** Counts the elements of a vector by their magnitude, in one pass over their bits. */
import {
  LOWEST_HALF_OCTAVE,
  MOST_HALF_OCTAVES,
  type Magnitudes,
} from '../../../shared/records/magnitudes.ts';

const MANTISSA_BITS = 23;
const MANTISSA = (1 << MANTISSA_BITS) - 1;
/** The mantissa of the largest f32 below √2. */
const BELOW_ROOT = 0x3504f3;

/** @param values finite */
export function magnitudesOf(values: Float32Array): Magnitudes {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const negative = new Uint32Array(MOST_HALF_OCTAVES);
  const positive = new Uint32Array(MOST_HALF_OCTAVES);
  let zeros = 0;
  for (let i = 0; i < bits.length; i++) {
    const bit = bits[i]!;
    const exponent = (bit >>> MANTISSA_BITS) & 0xff;
    if (exponent === 0) {
      zeros++;
      continue;
    }
    const bin = 2 * (exponent - 1) + ((bit & MANTISSA) > BELOW_ROOT ? 1 : 0);
    if (bit < 0) negative[bin]! += 1;
    else positive[bin]! += 1;
  }
  const isEmpty = (bin: number): boolean => negative[bin] === 0 && positive[bin] === 0;
  let from = 0;
  let to = MOST_HALF_OCTAVES;
  while (to > 0 && isEmpty(to - 1)) to--;
  while (from < to && isEmpty(from)) from++;
  return {
    zeros,
    first: LOWEST_HALF_OCTAVE + from,
    negative: [...negative.subarray(from, to)],
    positive: [...positive.subarray(from, to)],
  };
}
