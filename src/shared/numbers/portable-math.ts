/**
 * Logarithms, powers and waves whose bits are the same on every machine. `Math.exp`, `Math.cos`
 * and their kin are compiled C++: on aarch64 the compiler fuses products and sums, and their last bit
 * differs from x86_64's; `**` is the C library's `pow`. Here are only +, −, ×, ÷ and √, which
 * IEEE 754 defines to the last bit and JavaScript never fuses. So ranks on different machines
 * compute the same rates, ratios and predictions.
 *
 * Errors are about one unit in the last place, except where stated.
 *
 * Source of the polynomials: fdlibm (Sun Microsystems, 1993; freely distributable).
 */

const float = new Float64Array(1);
/** Little-endian on every platform that there is a build for: the upper half is the second. */
const words = new Uint32Array(float.buffer);

const LN2 = Math.LN2;
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;
/**
 * The high word of √½, its mantissa cut off after 20 bits: logarithms are taken from there to
 * √2.
 */
const ROOT_HALF = 0x3fe6a09e;

/** 2ᵏ for −1022 ≤ k ≤ 1023. */
function scale(k: number): number {
  words[0] = 0;
  words[1] = (k + 1023) << 20;
  return float[0]!;
}

/** eˣ. */
export function exp(x: number): number {
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  if (Number.isNaN(x)) return x;
  const k = Math.round(x / LN2);
  const high = x - k * LN2_HIGH;
  const low = k * LN2_LOW;
  const r = high - low;
  const s = r * r;
  const c =
    r -
    s *
      (0.16666666666666602 +
        s *
          (-2.7777777777015593e-3 +
            s *
              (6.613756321437934e-5 +
                s * (-1.6533902205465252e-6 + s * 4.1381367970572385e-8))));
  const y = 1 + ((r * c) / (2 - c) - low + high);
  // In two steps: 2¹⁰²⁴ and what is below 2⁻¹⁰²² are no normal numbers.
  const half = k >> 1;
  return y * scale(half) * scale(k - half);
}

/** The natural logarithm; −Infinity of 0, NaN below. */
export function log(x: number): number {
  if (x === 0) return -Infinity;
  if (!(x > 0) || x === Infinity) return x < 0 ? NaN : x;
  const isSmall = x < 2 ** -1022;
  float[0] = isSmall ? x * 2 ** 54 : x;
  const upper = words[1]! + 0x3ff00000 - ROOT_HALF;
  const k = (upper >> 20) - 1023 - (isSmall ? 54 : 0);
  words[1] = (upper & 0xfffff) + ROOT_HALF;
  const f = float[0] - 1;
  const half = 0.5 * f * f;
  const s = f / (2 + f);
  const z = s * s;
  const r =
    z *
    (0.6666666666666735 +
      z *
        (0.3999999999940942 +
          z *
            (0.2857142874366239 +
              z *
                (0.22222198432149784 +
                  z *
                    (0.1818357216161805 +
                      z * (0.15313837699209373 + z * 0.14798198605116586))))));
  return s * (half + r) + k * LN2_LOW - half + f + k * LN2_HIGH;
}

/** log(1 + x), exact to a few units in the last place near 0 too. Source: W. Kahan. */
export function log1p(x: number): number {
  const u = 1 + x;
  if (u === 1) return x;
  return u === Infinity ? u : (log(u) * x) / (u - 1);
}

/** eˣ − 1, exact to a few units in the last place near 0 too. Source: W. Kahan. */
export function expm1(x: number): number {
  const u = exp(x);
  if (u === 1) return x;
  if (u === Infinity || u - 1 === -1) return u - 1;
  return ((u - 1) * x) / log(u);
}

/** The largest whole k with 2ᵏ ≤ x. @param x a positive, finite number */
export function octave(x: number): number {
  if (x < 2 ** -1022) return octave(x * 2 ** 54) - 54;
  float[0] = x;
  return (words[1]! >>> 20) - 1023;
}

/** Products are exact where they can be: up to this exponent powers are made of them. */
const MOST_FACTORS = 64;

/**
 * baseᵉˣᵖᵒⁿᵉⁿᵗ. Whole exponents up to 64 take products; others lose a few bits where the power is far from 1: its
 * relative error is about 2⁻⁵³·(1 + |ln power|).
 * @param base at least 0
 */
export function power(base: number, exponent: number): number {
  if (!Number.isInteger(exponent) || Math.abs(exponent) > MOST_FACTORS) {
    return base === 1 ? 1 : exp(exponent * log(base));
  }
  let product = 1;
  let square = base;
  for (let left = Math.abs(exponent); left > 0; left >>= 1) {
    if ((left & 1) === 1) product *= square;
    square *= square;
  }
  return exponent < 0 ? 1 / product : product;
}

/** @param x radians, |x| up to a million; beyond, digits are lost */
export function cos(x: number): number {
  return wave(x, 1);
}

/** @param x radians, |x| up to a million; beyond, digits are lost */
export function sin(x: number): number {
  return wave(x, 0);
}

/** sin(x + ahead·π/2): x less its quarter turns, in two numbers, by Cody and Waite's method. */
function wave(x: number, ahead: 0 | 1): number {
  const turns = Math.round(x * 0.6366197723675814);
  const first = x - turns * 1.5707963267341256;
  const second = turns * 6.077100506303966e-11;
  const rest = first - second;
  const third = turns * 2.0222662487959506e-21 - (first - rest - second);
  const y = rest - third;
  const low = rest - y - third;
  // Of a remainder, as `turns` may be beyond 32 bits.
  const quarter = (((turns % 4) + 4) % 4) + ahead;
  const value = (quarter & 1) === 0 ? sine(y, low) : cosine(y, low);
  return (quarter & 2) === 0 ? value : -value;
}

/** sin(y + low) for |y| ≤ π/4, where low is far below y. */
function sine(y: number, low: number): number {
  const z = y * y;
  const r =
    8.33333333332249e-3 +
    z *
      (-1.984126982985795e-4 +
        z *
          (2.7557313707070068e-6 +
            z * (-2.5050760253406863e-8 + z * 1.58969099521155e-10)));
  const v = z * y;
  return y - (z * (0.5 * low - v * r) - low - v * -0.16666666666666632);
}

/** cos(y + low) for |y| ≤ π/4, where low is far below y. */
function cosine(y: number, low: number): number {
  const z = y * y;
  const r =
    z *
    (0.0416666666666666 +
      z *
        (-1.388888888887411e-3 +
          z *
            (2.480158728947673e-5 +
              z *
                (-2.7557314351390663e-7 +
                  z * (2.087572321298175e-9 + z * -1.1359647557788195e-11)))));
  const half = 0.5 * z;
  const w = 1 - half;
  return w + (1 - w - half + (z * r - y * low));
}
