/**
 * Floats of 8 bits in blocks with a shared scale, as `../../microscaling.ts` defines them,
 * sixteen at a time. Scaling by a power of two is exact, and rounding is arithmetic on the bits
 * of the f32, as in `half-precision.ts`. Random rounding goes value by value.
 */
import { held } from './held';
import { drawEightBlocks, nameStream } from './philox';

const SIGN: u32 = 0x80000000;
const MAGNITUDE: u32 = 0x7fffffff;
/** An f32 at 1.75 of its binade: what is above needs the next scale. */
const THREE_QUARTERS: u32 = 0x600000;
/** The bits of an infinite f32; those of a NaN are above. */
const INFINITE: u32 = 0x7f800000;
/** 1 at the place of an f32's exponent. */
const EXPONENT: u32 = 0x00800000;
const NAN_SCALE: u32 = 255;
const BLOCK: u32 = 32;
/** Elements of which the random bits are drawn at once: two blocks. */
const TILE: u32 = 64;

// Of the type: 0 E4M3, 1 E5M2.
/** Bits of an f32's fraction beyond the type's. */
let shift: u32 = 0;
/** The exponent of the largest value. */
let most: i32 = 0;
/** The difference of the exponents' biases, at its place in an f32. */
let rebias: u32 = 0;
/** The smallest normal value as f32. */
let leastNormal: u32 = 0;
/** An f32 whose last place is the smallest subnormal value. */
let place: f32 = 0;
/** Number of bits by which a magnitude is moved to count smallest subnormal values, less its exponent. */
let alignment: i32 = 0;
let largest: u32 = 0;

function use(format: u32): void {
  const isWide = format == 1;
  shift = isWide ? 21 : 20;
  most = isWide ? 15 : 8;
  rebias = isWide ? 112 << 23 : 120 << 23;
  leastNormal = isWide ? 113 << 23 : 121 << 23;
  place = isWide ? <f32>128.0 : <f32>16384.0;
  alignment = isWide ? 134 : 141;
  largest = isWide ? 0x7b : 0x7e;
}

/** The scale of a block whose largest magnitude has these bits; NaN if it is not finite. */
function scaleOf(bits: u32): u32 {
  if (bits >= INFINITE) return NAN_SCALE;
  const up = i32((bits & 0x7fffff) > THREE_QUARTERS);
  const code = i32(bits >>> 23) + up - most;
  return <u32>max(0, min(code, 254 - most));
}

/** 2^(127 − scale) */
@inline
function inverse(scale: u32): f32 {
  return reinterpret<f32>((254 - scale) << 23);
}

/** The code of one scaled value, rounded to nearest. */
function nearest(value: f32): u32 {
  const bits = reinterpret<u32>(value);
  const m = bits & MAGNITUDE;
  const sign = (bits & SIGN) >>> 24;
  if (m < leastNormal) {
    const sum = reinterpret<u32>(reinterpret<f32>(m) + place);
    return sign | (sum - reinterpret<u32>(place));
  }
  const below: u32 = (1 << (shift - 1)) - 1;
  const odd = (m >>> shift) & 1;
  return sign | min((m - rebias + below + odd) >>> shift, largest);
}

/** The code of one scaled value, rounded by 16 random bits. */
function randomly(value: f32, drawn: u32): u32 {
  const bits = reinterpret<u32>(value);
  const m = bits & MAGNITUDE;
  const sign = (bits & SIGN) >>> 24;
  if (m >= leastNormal) {
    const rest = (m & ((1 << shift) - 1)) >>> (shift - 16);
    return sign | min(((m - rebias) >>> shift) + u32(rest > drawn), largest);
  }
  const by = <u32>(alignment - i32(m >>> 23));
  // Values below 2⁻¹⁶ of the smallest go up with less than 2⁻¹⁶.
  if (by > 39) return sign;
  const fraction = (m & 0x7fffff) | 0x800000;
  const whole: u32 = by > 31 ? 0 : fraction >>> by;
  const rest: u32 = by > 31 ? fraction : fraction & ((1 << by) - 1);
  const weight = rest >>> (by - 16);
  return sign | (whole + u32(weight > drawn));
}

function largestOf(x: usize, n: u32): u32 {
  let bits: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    bits = max(bits, load<u32>(x + ((<usize>i) << 2)) & MAGNITUDE);
  }
  return bits;
}

/** Writes the scales and codes of x, rounded to nearest. */
export function encodeBlocks(
  x: usize,
  n: u32,
  format: u32,
  scales: usize,
  codes: usize,
): void {
  use(format);
  const magnitude = held(MAGNITUDE);
  const signs = held(SIGN);
  const one = held(1);
  const by = shift;
  const below = held((1 << (shift - 1)) - 1);
  const rebiased = held(rebias);
  const least = held(leastNormal);
  const placed = held(reinterpret<u32>(place));
  const last = held(largest);
  const blocks = n >>> 5;
  for (let block: u32 = 0; block < blocks; block++) {
    let bits = v128.and(v128.load(x), magnitude);
    for (let at: usize = 16; at < 128; at += 16) {
      bits = i32x4.max_u(bits, v128.and(v128.load(x + at), magnitude));
    }
    const pair = max(i32x4.extract_lane(bits, 0), i32x4.extract_lane(bits, 1));
    const other = max(i32x4.extract_lane(bits, 2), i32x4.extract_lane(bits, 3));
    const scale = scaleOf(<u32>max(pair, other));
    store<u8>(scales, <u8>scale);
    const factor = f32x4.splat(inverse(scale));
    for (let half = 0; half < 2; half++) {
      const a = f32x4.mul(v128.load(x), factor);
      const b = f32x4.mul(v128.load(x, 16), factor);
      const c = f32x4.mul(v128.load(x, 32), factor);
      const d = f32x4.mul(v128.load(x, 48), factor);
      v128.store(
        codes,
        i8x16.narrow_i16x8_u(
          i16x8.narrow_i32x4_u(
            fourCodes(a, by, magnitude, signs, one, below, rebiased, least, placed, last),
            fourCodes(b, by, magnitude, signs, one, below, rebiased, least, placed, last),
          ),
          i16x8.narrow_i32x4_u(
            fourCodes(c, by, magnitude, signs, one, below, rebiased, least, placed, last),
            fourCodes(d, by, magnitude, signs, one, below, rebiased, least, placed, last),
          ),
        ),
      );
      x += 64;
      codes += 16;
    }
    scales += 1;
  }
  const rest = n & 31;
  if (rest == 0) return;
  const scale = scaleOf(largestOf(x, rest));
  store<u8>(scales, <u8>scale);
  const factor = inverse(scale);
  for (let i: u32 = 0; i < rest; i++) {
    store<u8>(codes, <u8>nearest(load<f32>(x) * factor));
    x += 4;
    codes += 1;
  }
}

/** Codes of four scaled values in the lanes, with their signs. */
@inline
function fourCodes(
  v: v128,
  by: u32,
  magnitude: v128,
  signs: v128,
  one: v128,
  below: v128,
  rebiased: v128,
  least: v128,
  placed: v128,
  last: v128,
): v128 {
  const m = v128.and(v, magnitude);
  const odd = v128.and(i32x4.shr_u(m, by), one);
  const moved = i32x4.add(i32x4.sub(i32x4.add(m, below), rebiased), odd);
  const normal = i32x4.min_u(i32x4.shr_u(moved, by), last);
  const subnormal = i32x4.sub(f32x4.add(m, placed), placed);
  const code = v128.bitselect(subnormal, normal, i32x4.lt_s(m, least));
  return v128.or(code, i32x4.shr_u(v128.and(v, signs), 24));
}

/** Writes the scales and codes of x, rounded at random; `first` is the index of the first element. */
export function encodeBlocksRandomly(
  x: usize,
  n: u32,
  format: u32,
  scales: usize,
  codes: usize,
  scratch: usize,
  first: u32,
  seed: u32,
  rank: u32,
  streamBucket: u32,
  iteration: u32,
  purpose: u32,
): void {
  use(format);
  nameStream(seed, rank, streamBucket, iteration, purpose);
  for (let start: u32 = 0; start < n; start += TILE) {
    drawEightBlocks((first + start) >>> 3, scratch);
    const end = min(start + TILE, n);
    for (let from = start; from < end; from += BLOCK) {
      const count = min(BLOCK, end - from);
      const scale = scaleOf(largestOf(x, count));
      store<u8>(scales, <u8>scale);
      scales += 1;
      const factor = inverse(scale);
      for (let i: u32 = from - start; i < from - start + count; i++) {
        const drawn = <u32>load<u16>(scratch + ((<usize>i) << 1));
        store<u8>(codes, <u8>randomly(load<f32>(x) * factor, drawn));
        x += 4;
        codes += 1;
      }
    }
  }
}

/** out ← the values of the codes. */
export function decodeBlocks(
  out: usize,
  n: u32,
  format: u32,
  scales: usize,
  codes: usize,
): void {
  use(format);
  const by = shift;
  const rebased = held(rebias);
  const exponent = held(EXPONENT);
  const least = held(leastNormal);
  const magnitude = held(0x7f);
  const sign = held(0x80);
  for (let start: u32 = 0; start < n; start += BLOCK) {
    const scale = <u32>load<u8>(scales);
    scales += 1;
    // 2⁻¹²⁷ is subnormal.
    const factor = reinterpret<f32>(scale == 0 ? 0x400000 : scale << 23);
    const factors = f32x4.splat(factor);
    const count = min(BLOCK, n - start);
    let i: u32 = 0;
    for (; i + 16 <= count; i += 16) {
      const c = v128.load(codes);
      const low = i16x8.extend_low_i8x16_u(c);
      const high = i16x8.extend_high_i8x16_u(c);
      v128.store(out, four(i32x4.extend_low_i16x8_u(low), by, magnitude, sign, rebased, exponent, least, factors));
      v128.store(out, four(i32x4.extend_high_i16x8_u(low), by, magnitude, sign, rebased, exponent, least, factors), 16);
      v128.store(out, four(i32x4.extend_low_i16x8_u(high), by, magnitude, sign, rebased, exponent, least, factors), 32);
      v128.store(out, four(i32x4.extend_high_i16x8_u(high), by, magnitude, sign, rebased, exponent, least, factors), 48);
      codes += 16;
      out += 64;
    }
    for (; i < count; i++) {
      const code = <u32>load<u8>(codes);
      const value = valueOf(code & 0x7f) * factor;
      store<u32>(out, reinterpret<u32>(value) | ((code & 0x80) << 24));
      codes += 1;
      out += 4;
    }
  }
}

/** The value of a code without its sign, as `wideF16` of `half-precision.ts` finds it. */
@inline
function valueOf(code: u32): f32 {
  const m = (code << shift) + rebias;
  return m < leastNormal
    ? reinterpret<f32>(m + EXPONENT) - reinterpret<f32>(leastNormal)
    : reinterpret<f32>(m);
}

@inline
function four(
  c: v128,
  by: u32,
  magnitude: v128,
  sign: v128,
  rebased: v128,
  exponent: v128,
  least: v128,
  factors: v128,
): v128 {
  const m = i32x4.add(i32x4.shl(v128.and(c, magnitude), by), rebased);
  const subnormal = f32x4.sub(i32x4.add(m, exponent), least);
  const value = v128.bitselect(subnormal, m, i32x4.lt_s(m, least));
  return v128.or(f32x4.mul(value, factors), i32x4.shl(v128.and(c, sign), 24));
}

/** The position of the first code above the largest finite one, its sign aside; n if there is none. */
export function firstAbove(codes: usize, n: u32, above: u32): u32 {
  const magnitude = i8x16.splat(0x7f);
  const most = i8x16.splat(<i8>above);
  let i: u32 = 0;
  for (; i + 16 <= n; i += 16) {
    const c = v128.and(v128.load(codes + i), magnitude);
    if (v128.any_true(i8x16.gt_u(c, most))) break;
  }
  for (; i < n; i++) {
    if ((<u32>load<u8>(codes + i) & 0x7f) > above) return i;
  }
  return n;
}
