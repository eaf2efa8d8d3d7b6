/**
 * Values of 16 bits, as `../../half-precision.ts` defines them, eight at a time. Rounding to
 * nearest is arithmetic on the bits of the f32; subnormals of binary16 are rounded by an
 * addition of 0.5, below whose last place lies 2⁻²⁴. Random rounding goes value by value.
 */
import { held } from './held';
import { drawEightBlocks, nameStream } from './philox';

const SIGN: u32 = 0x80000000;
const MAGNITUDE: u32 = 0x7fffffff;
/** 2⁻¹⁴ as f32: the smallest normal binary16. */
const LEAST_NORMAL: u32 = 0x38800000;
/** The difference of the exponents' biases, 127 and 15, at their place in an f32. */
const REBIAS: u32 = 0x38000000;
const HALF: u32 = 0x3f000000;
/** 1 at the place of an f32's exponent. */
const EXPONENT: u32 = 0x00800000;
/** The bits of an f32 that an infinite binary16 becomes when it is moved and rebiased. */
const INFINITE_F16: u32 = 0x47800000;
const LARGEST_BF16: u32 = 0x7f7f;
const LARGEST_F16: u32 = 0x7bff;
const TILE: u32 = 64;

/** Four f32 as the magnitudes of bfloat16 in the low halves of the lanes, without sign. */
function nearestBf16(v: v128, magnitude: v128, one: v128, half: v128, largest: v128): v128 {
  const m = v128.and(v, magnitude);
  const odd = v128.and(i32x4.shr_u(m, 16), one);
  const rounded = i32x4.shr_u(i32x4.add(i32x4.add(m, half), odd), 16);
  return i32x4.min_u(rounded, largest);
}

function nearestF16(
  v: v128,
  magnitude: v128,
  one: v128,
  below: v128,
  rebias: v128,
  leastNormal: v128,
  half: v128,
  largest: v128,
): v128 {
  const m = v128.and(v, magnitude);
  const odd = v128.and(i32x4.shr_u(m, 13), one);
  const rebased = i32x4.sub(i32x4.add(m, below), rebias);
  const normal = i32x4.min_u(i32x4.shr_u(i32x4.add(rebased, odd), 13), largest);
  const subnormal = i32x4.sub(f32x4.add(m, half), half);
  return v128.bitselect(subnormal, normal, i32x4.lt_s(m, leastNormal));
}

/** The code of one f32, rounded to nearest. */
function nearest(value: f32, isF16: bool): u32 {
  const bits = reinterpret<u32>(value);
  const m = bits & MAGNITUDE;
  const sign = (bits & SIGN) >>> 16;
  if (!isF16) {
    return sign | min((m + 0x7fff + ((m >>> 16) & 1)) >>> 16, LARGEST_BF16);
  }
  if (m < LEAST_NORMAL) {
    return sign | (reinterpret<u32>(reinterpret<f32>(m) + <f32>0.5) - HALF);
  }
  return sign | min((m - REBIAS + 0xfff + ((m >>> 13) & 1)) >>> 13, LARGEST_F16);
}

/** The code of one f32, rounded by 16 random bits. */
function randomly(value: f32, isF16: bool, drawn: u32): u32 {
  const bits = reinterpret<u32>(value);
  const m = bits & MAGNITUDE;
  const sign = (bits & SIGN) >>> 16;
  if (!isF16) return sign | min((m >>> 16) + u32((m & 0xffff) > drawn), LARGEST_BF16);
  if (m >= LEAST_NORMAL) {
    const rest = (m & 0x1fff) << 3;
    return sign | min(((m - REBIAS) >>> 13) + u32(rest > drawn), LARGEST_F16);
  }
  // Bits below 2⁻²⁴: 14 of the least normal value's binade, one more in each below.
  const shift = 126 - (m >>> 23);
  // Values below 2⁻⁴⁰ go up with less than 2⁻¹⁶.
  if (shift > 39) return sign;
  const fraction = (m & 0x7fffff) | 0x800000;
  const whole = shift > 31 ? 0 : fraction >>> shift;
  const rest = shift > 31 ? fraction : fraction & ((1 << shift) - 1);
  const weight = shift > 16 ? rest >>> (shift - 16) : rest << (16 - shift);
  return sign | (whole + u32(weight > drawn));
}

/** out ← x · factor, to nearest. `format`: 0 bfloat16, 1 binary16. */
export function narrow(x: usize, n: u32, factor: f32, out: usize, format: u32): void {
  const factors = f32x4.splat(factor);
  const magnitude = held(MAGNITUDE);
  const signs = held(SIGN);
  const one = held(1);
  const vectors = n >>> 3;
  if (format == 0) {
    const half = held(0x7fff);
    const largest = held(LARGEST_BF16);
    for (let i: u32 = 0; i < vectors; i++) {
      const a = f32x4.mul(v128.load(x), factors);
      const b = f32x4.mul(v128.load(x, 16), factors);
      const ca = nearestBf16(a, magnitude, one, half, largest);
      const cb = nearestBf16(b, magnitude, one, half, largest);
      storeCodes(out, a, b, ca, cb, signs);
      x += 32;
      out += 16;
    }
  } else {
    const below = held(0xfff);
    const rebias = held(REBIAS);
    const leastNormal = held(LEAST_NORMAL);
    const half = held(HALF);
    const largest = held(LARGEST_F16);
    for (let i: u32 = 0; i < vectors; i++) {
      const a = f32x4.mul(v128.load(x), factors);
      const b = f32x4.mul(v128.load(x, 16), factors);
      const ca = nearestF16(a, magnitude, one, below, rebias, leastNormal, half, largest);
      const cb = nearestF16(b, magnitude, one, below, rebias, leastNormal, half, largest);
      storeCodes(out, a, b, ca, cb, signs);
      x += 32;
      out += 16;
    }
  }
  for (let i: u32 = n & ~7; i < n; i++) {
    store<u16>(out, <u16>nearest(load<f32>(x) * factor, format == 1));
    x += 4;
    out += 2;
  }
}

/** Codes of eight values with their signs. */
function storeCodes(out: usize, a: v128, b: v128, ca: v128, cb: v128, signs: v128): void {
  const sa = i32x4.shr_u(v128.and(a, signs), 16);
  const sb = i32x4.shr_u(v128.and(b, signs), 16);
  v128.store(out, i16x8.narrow_i32x4_u(v128.or(ca, sa), v128.or(cb, sb)));
}

/**
 * out ← x · factor, at random. x begins at element `first`, a multiple of 64, of the vector for
 * which random bits are drawn. `scratch`: 128 bytes.
 */
export function narrowRandomly(
  x: usize,
  n: u32,
  factor: f32,
  out: usize,
  format: u32,
  scratch: usize,
  first: u32,
  seed: u32,
  rank: u32,
  streamBucket: u32,
  iteration: u32,
  purpose: u32,
): void {
  nameStream(seed, rank, streamBucket, iteration, purpose);
  for (let start: u32 = 0; start < n; start += TILE) {
    drawEightBlocks((first + start) >>> 3, scratch);
    const count = min(TILE, n - start);
    for (let i: u32 = 0; i < count; i++) {
      const drawn = <u32>load<u16>(scratch + ((<usize>i) << 1));
      store<u16>(out, <u16>randomly(load<f32>(x) * factor, format == 1, drawn));
      x += 4;
      out += 2;
    }
  }
}

/**
 * Four codes in the low halves of the lanes as f32. A subnormal code gets the exponent of the least normal value, and
 * that value is subtracted. A product with 2¹¹² would be as exact, but its operand would be a subnormal f32, for
 * which some processors take many times as long, and small gradients are full of subnormal codes.
 */
function wideF16(
  c: v128,
  sign: v128,
  magnitude: v128,
  rebias: v128,
  exponent: v128,
  leastNormal: v128,
  infinite: v128,
  top: v128,
): v128 {
  const m = i32x4.add(i32x4.shl(v128.and(c, magnitude), 13), rebias);
  const subnormal = f32x4.sub(i32x4.add(m, exponent), leastNormal);
  const value = v128.bitselect(subnormal, m, i32x4.lt_s(m, leastNormal));
  const special = v128.and(i32x4.ge_s(m, infinite), top);
  return v128.or(v128.or(value, special), i32x4.shl(v128.and(c, sign), 16));
}

function wide(code: u32, isF16: bool): f32 {
  if (!isF16) return reinterpret<f32>(code << 16);
  const m = ((code & 0x7fff) << 13) + REBIAS;
  const value =
    m < LEAST_NORMAL
      ? reinterpret<u32>(reinterpret<f32>(m + EXPONENT) - reinterpret<f32>(LEAST_NORMAL))
      : m;
  const special: u32 = m >= INFINITE_F16 ? 0x7f800000 : 0;
  return reinterpret<f32>(value | special | ((code & 0x8000) << 16));
}

/** out ← values of `data`. */
export function widen(data: usize, n: u32, out: usize, format: u32): void {
  const sign = held(0x8000);
  const magnitude = held(0x7fff);
  const rebias = held(REBIAS);
  const exponent = held(EXPONENT);
  const leastNormal = held(LEAST_NORMAL);
  const infinite = held(INFINITE_F16);
  const top = held(0x7f800000);
  const vectors = n >>> 3;
  for (let i: u32 = 0; i < vectors; i++) {
    const c = v128.load(data);
    const low = i32x4.extend_low_i16x8_u(c);
    const high = i32x4.extend_high_i16x8_u(c);
    if (format == 0) {
      v128.store(out, i32x4.shl(low, 16));
      v128.store(out, i32x4.shl(high, 16), 16);
    } else {
      v128.store(out, wideF16(low, sign, magnitude, rebias, exponent, leastNormal, infinite, top));
      v128.store(out, wideF16(high, sign, magnitude, rebias, exponent, leastNormal, infinite, top), 16);
    }
    data += 16;
    out += 32;
  }
  for (let i: u32 = n & ~7; i < n; i++) {
    store<f32>(out, wide(load<u16>(data), format == 1));
    data += 2;
    out += 4;
  }
}

/** out ← out + x, of codes: added in f32, rounded to nearest. */
export function addHalves(out: usize, x: usize, n: u32, format: u32): void {
  const magnitude = held(MAGNITUDE);
  const signs = held(SIGN);
  const one = held(1);
  const vectors = n >>> 3;
  if (format == 0) {
    const half = held(0x7fff);
    const largest = held(LARGEST_BF16);
    for (let i: u32 = 0; i < vectors; i++) {
      const c = v128.load(out);
      const d = v128.load(x);
      const a = f32x4.add(
        i32x4.shl(i32x4.extend_low_i16x8_u(c), 16),
        i32x4.shl(i32x4.extend_low_i16x8_u(d), 16),
      );
      const b = f32x4.add(
        i32x4.shl(i32x4.extend_high_i16x8_u(c), 16),
        i32x4.shl(i32x4.extend_high_i16x8_u(d), 16),
      );
      const ca = nearestBf16(a, magnitude, one, half, largest);
      const cb = nearestBf16(b, magnitude, one, half, largest);
      storeCodes(out, a, b, ca, cb, signs);
      out += 16;
      x += 16;
    }
  } else {
    const below = held(0xfff);
    const rebias = held(REBIAS);
    const leastNormal = held(LEAST_NORMAL);
    const half = held(HALF);
    const largest = held(LARGEST_F16);
    const sign = held(0x8000);
    const magnitude16 = held(0x7fff);
    const exponent = held(EXPONENT);
    const infinite = held(INFINITE_F16);
    const top = held(0x7f800000);
    for (let i: u32 = 0; i < vectors; i++) {
      const c = v128.load(out);
      const d = v128.load(x);
      const a = f32x4.add(
        wideF16(i32x4.extend_low_i16x8_u(c), sign, magnitude16, rebias, exponent, leastNormal, infinite, top),
        wideF16(i32x4.extend_low_i16x8_u(d), sign, magnitude16, rebias, exponent, leastNormal, infinite, top),
      );
      const b = f32x4.add(
        wideF16(i32x4.extend_high_i16x8_u(c), sign, magnitude16, rebias, exponent, leastNormal, infinite, top),
        wideF16(i32x4.extend_high_i16x8_u(d), sign, magnitude16, rebias, exponent, leastNormal, infinite, top),
      );
      const ca = nearestF16(a, magnitude, one, below, rebias, leastNormal, half, largest);
      const cb = nearestF16(b, magnitude, one, below, rebias, leastNormal, half, largest);
      storeCodes(out, a, b, ca, cb, signs);
      out += 16;
      x += 16;
    }
  }
  const isF16 = format == 1;
  for (let i: u32 = n & ~7; i < n; i++) {
    const sum = wide(load<u16>(out), isF16) + wide(load<u16>(x), isF16);
    store<u16>(out, <u16>nearest(sum, isF16));
    out += 2;
    x += 2;
  }
}

/** The position of the first code whose exponent has all bits set; n if there is none. */
export function firstSpecial(data: usize, n: u32, exponent: u32): u32 {
  for (let i: u32 = 0; i < n; i++) {
    if ((<u32>load<u16>(data) & exponent) == exponent) return i;
    data += 2;
  }
  return n;
}
