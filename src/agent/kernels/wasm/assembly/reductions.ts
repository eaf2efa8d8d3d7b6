/**
 * Reductions of a vector to a number: one pass. Sums are in f64, by blocks whose sums are
 * added in order. Within a block there are four or eight interleaved partial sums. So a
 * result depends only on the input, not on the number of threads.
 */
import { held, heldOne } from './held';

/** Elements of a block; slices of several threads begin at blocks (`../job-board.ts`). */
const BLOCK: u32 = 65_536;

/** Lanes 2 and 3, as f64. */
function promoteHigh(v: v128): v128 {
  return f64x2.promote_low_f32x4(i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 8, 9, 10, 11, 12, 13, 14, 15)); // prettier-ignore
}

function lanesSum(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

export function squaredNorm(x: usize, n: u32): f64 {
  let sum: f64 = 0;
  for (let start: u32 = 0; start < n; start += BLOCK) {
    sum += squaredNormOfBlock(x + ((<usize>start) << 2), min(BLOCK, n - start));
  }
  return sum;
}

function squaredNormOfBlock(x: usize, n: u32): f64 {
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(x);
    const a = f64x2.promote_low_f32x4(v);
    const b = promoteHigh(v);
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
    x += 16;
  }
  let sum = lanesSum(f64x2.add(low, high));
  for (let i: u32 = n & ~3; i < n; i++) {
    const value = <f64>load<f32>(x);
    sum += value * value;
    x += 4;
  }
  return sum;
}

export function squaredDistance(x: usize, y: usize, n: u32): f64 {
  let sum: f64 = 0;
  for (let start: u32 = 0; start < n; start += BLOCK) {
    const at = (<usize>start) << 2;
    sum += squaredDistanceOfBlock(x + at, y + at, min(BLOCK, n - start));
  }
  return sum;
}

function squaredDistanceOfBlock(x: usize, y: usize, n: u32): f64 {
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(x);
    const w = v128.load(y);
    const a = f64x2.sub(f64x2.promote_low_f32x4(v), f64x2.promote_low_f32x4(w));
    const b = f64x2.sub(promoteHigh(v), promoteHigh(w));
    low = f64x2.add(low, f64x2.mul(a, a));
    high = f64x2.add(high, f64x2.mul(b, b));
    x += 16;
    y += 16;
  }
  let sum = lanesSum(f64x2.add(low, high));
  for (let i: u32 = n & ~3; i < n; i++) {
    const difference = <f64>load<f32>(x) - <f64>load<f32>(y);
    sum += difference * difference;
    x += 4;
    y += 4;
  }
  return sum;
}

/** Σ (x − c), or Σ (x − c)², for means and variances. */
export function centralSum(x: usize, n: u32, c: f64, squared: bool): f64 {
  let sum: f64 = 0;
  for (let start: u32 = 0; start < n; start += BLOCK) {
    const at = (<usize>start) << 2;
    sum += centralSumOfBlock(x + at, min(BLOCK, n - start), c, squared);
  }
  return sum;
}

function centralSumOfBlock(x: usize, n: u32, c: f64, squared: bool): f64 {
  const center = f64x2.splat(c);
  let low = f64x2.splat(0);
  let high = f64x2.splat(0);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(x);
    const a = f64x2.sub(f64x2.promote_low_f32x4(v), center);
    const b = f64x2.sub(promoteHigh(v), center);
    low = f64x2.add(low, squared ? f64x2.mul(a, a) : a);
    high = f64x2.add(high, squared ? f64x2.mul(b, b) : b);
    x += 16;
  }
  let sum = lanesSum(f64x2.add(low, high));
  for (let i: u32 = n & ~3; i < n; i++) {
    const difference = <f64>load<f32>(x) - c;
    sum += squared ? difference * difference : difference;
    x += 4;
  }
  return sum;
}

/** All exponent bits set: NaN or an infinity. */
const NON_FINITE: u32 = 0x7f800000;

/** Whether a NaN or an infinity is in eight vectors. `exponent`: `NON_FINITE`, held. */
@inline
function anyNonFinite(
  a: v128,
  b: v128,
  c: v128,
  d: v128,
  e: v128,
  f: v128,
  g: v128,
  h: v128,
  exponent: v128,
): bool {
  const largest = i32x4.max_s(
    i32x4.max_s(
      i32x4.max_s(v128.and(a, exponent), v128.and(b, exponent)),
      i32x4.max_s(v128.and(c, exponent), v128.and(d, exponent)),
    ),
    i32x4.max_s(
      i32x4.max_s(v128.and(e, exponent), v128.and(f, exponent)),
      i32x4.max_s(v128.and(g, exponent), v128.and(h, exponent)),
    ),
  );
  return i32x4.bitmask(i32x4.eq(largest, exponent)) != 0;
}

/** Index of the first NaN or infinity, or n. */
export function firstNonFinite(x: usize, n: u32): u32 {
  const exponent = held(NON_FINITE);
  const whole = n & ~31;
  let i: u32 = 0;
  for (; i < whole; i += 32) {
    const a = v128.load(x);
    const b = v128.load(x, 16);
    const c = v128.load(x, 32);
    const d = v128.load(x, 48);
    const e = v128.load(x, 64);
    const f = v128.load(x, 80);
    const g = v128.load(x, 96);
    const h = v128.load(x, 112);
    if (anyNonFinite(a, b, c, d, e, f, g, h, exponent)) break;
    x += 128;
  }
  for (; i < n; i++) {
    if ((load<u32>(x) & NON_FINITE) == NON_FINITE) return i;
    x += 4;
  }
  return n;
}

/** out ← x. Index of the first NaN or infinity in x, or n. */
export function copyFinite(out: usize, x: usize, n: u32): u32 {
  const exponent = held(NON_FINITE);
  const whole = n & ~31;
  let i: u32 = 0;
  for (; i < whole; i += 32) {
    const a = v128.load(x);
    const b = v128.load(x, 16);
    const c = v128.load(x, 32);
    const d = v128.load(x, 48);
    const e = v128.load(x, 64);
    const f = v128.load(x, 80);
    const g = v128.load(x, 96);
    const h = v128.load(x, 112);
    if (anyNonFinite(a, b, c, d, e, f, g, h, exponent)) break;
    v128.store(out, a);
    v128.store(out, b, 16);
    v128.store(out, c, 32);
    v128.store(out, d, 48);
    v128.store(out, e, 64);
    v128.store(out, f, 80);
    v128.store(out, g, 96);
    v128.store(out, h, 112);
    out += 128;
    x += 128;
  }
  memory.copy(out, x, (<usize>(n - i)) << 2);
  return i + firstNonFinite(x, n - i);
}

/**
 * out ← out + x. Index of the first NaN or infinity in x, or n. From the group of 32
 * elements that contains it on, nothing is added.
 */
export function addFinite(out: usize, x: usize, n: u32): u32 {
  const exponent = held(NON_FINITE);
  const whole = n & ~31;
  let i: u32 = 0;
  for (; i < whole; i += 32) {
    const a = v128.load(x);
    const b = v128.load(x, 16);
    const c = v128.load(x, 32);
    const d = v128.load(x, 48);
    const e = v128.load(x, 64);
    const f = v128.load(x, 80);
    const g = v128.load(x, 96);
    const h = v128.load(x, 112);
    if (anyNonFinite(a, b, c, d, e, f, g, h, exponent)) break;
    v128.store(out, f32x4.add(v128.load(out), a));
    v128.store(out, f32x4.add(v128.load(out, 16), b), 16);
    v128.store(out, f32x4.add(v128.load(out, 32), c), 32);
    v128.store(out, f32x4.add(v128.load(out, 48), d), 48);
    v128.store(out, f32x4.add(v128.load(out, 64), e), 64);
    v128.store(out, f32x4.add(v128.load(out, 80), f), 80);
    v128.store(out, f32x4.add(v128.load(out, 96), g), 96);
    v128.store(out, f32x4.add(v128.load(out, 112), h), 112);
    out += 128;
    x += 128;
  }
  for (; i < n; i++) {
    const bits = load<u32>(x);
    if ((bits & NON_FINITE) == NON_FINITE) return i;
    store<f32>(out, load<f32>(out) + reinterpret<f32>(bits));
    out += 4;
    x += 4;
  }
  return n;
}

let plus: f64 = 0;
let minus: f64 = 0;

/** The first result of the last `twoMeans`. */
export function plusMean(): f64 {
  return plus;
}

/** The second. */
export function minusMean(): f64 {
  return minus;
}

/** Means of the elements ≥ 0 and of |·| over the elements < 0; 0 for an empty class. */
export function twoMeans(x: usize, n: u32): void {
  let plusTotal: f64 = 0;
  let minusTotal: f64 = 0;
  let count: u32 = 0;
  for (let start: u32 = 0; start < n; start += BLOCK) {
    signSums(x + ((<usize>start) << 2), min(BLOCK, n - start));
    plusTotal += plusSum;
    minusTotal += minusSum;
    count += plusCount;
  }
  plus = count == 0 ? 0 : plusTotal / <f64>count;
  minus = count == n ? 0 : minusTotal / <f64>(n - count);
}

let plusSum: f64 = 0;
let minusSum: f64 = 0;
let plusCount: u32 = 0;

/** The sums and the count of a block, as three f64, from which `twoMeans` is computed. */
export function storeSignSums(x: usize, n: u32, out: usize): void {
  signSums(x, n);
  store<f64>(out, plusSum);
  store<f64>(out, minusSum, 8);
  store<f64>(out, <f64>plusCount, 16);
}

/**
 * Σx and Σ|x| give both sums, with fewer instructions than a sum for each sign. Their
 * difference loses bits if one sign has a small share of the total; such blocks are rare,
 * and are added sign by sign.
 *
 * Sums are 1 · x + sum: the units that add also convert to f64, those that multiply are idle.
 * `relaxed_madd` may or may not round the product, which is exact here: all machines
 * compute the same bits.
 */
function signSums(x: usize, n: u32): void {
  const zero = f32x4.splat(0);
  const one = heldOne();
  let signedA = f64x2.splat(0);
  let signedB = f64x2.splat(0);
  let signedC = f64x2.splat(0);
  let signedD = f64x2.splat(0);
  let absoluteA = f64x2.splat(0);
  let absoluteB = f64x2.splat(0);
  let absoluteC = f64x2.splat(0);
  let absoluteD = f64x2.splat(0);
  let below = i32x4.splat(0);
  let from = x;
  const pairs = n >>> 3;
  for (let i: u32 = 0; i < pairs; i++) {
    const v = v128.load(from);
    const w = v128.load(from, 16);
    below = i32x4.add(below, i32x4.add(f32x4.lt(v, zero), f32x4.lt(w, zero)));
    const a = f64x2.promote_low_f32x4(v);
    const b = promoteHigh(v);
    const c = f64x2.promote_low_f32x4(w);
    const d = promoteHigh(w);
    signedA = f64x2.relaxed_madd(a, one, signedA);
    signedB = f64x2.relaxed_madd(b, one, signedB);
    signedC = f64x2.relaxed_madd(c, one, signedC);
    signedD = f64x2.relaxed_madd(d, one, signedD);
    absoluteA = f64x2.relaxed_madd(f64x2.abs(a), one, absoluteA);
    absoluteB = f64x2.relaxed_madd(f64x2.abs(b), one, absoluteB);
    absoluteC = f64x2.relaxed_madd(f64x2.abs(c), one, absoluteC);
    absoluteD = f64x2.relaxed_madd(f64x2.abs(d), one, absoluteD);
    from += 32;
  }
  let signed = lanesSum(
    f64x2.add(f64x2.add(signedA, signedB), f64x2.add(signedC, signedD)),
  );
  let absolute = lanesSum(
    f64x2.add(f64x2.add(absoluteA, absoluteB), f64x2.add(absoluteC, absoluteD)),
  );
  let negative = -(
    i32x4.extract_lane(below, 0) +
    i32x4.extract_lane(below, 1) +
    i32x4.extract_lane(below, 2) +
    i32x4.extract_lane(below, 3)
  );
  for (let i: u32 = n & ~7; i < n; i++) {
    const value = <f64>load<f32>(from);
    signed += value;
    absolute += abs(value);
    negative += i32(value < 0);
    from += 4;
  }
  plusSum = (absolute + signed) / 2;
  minusSum = (absolute - signed) / 2;
  plusCount = n - <u32>negative;
  const isOfOneSign = plusCount == 0 || plusCount == n;
  if (!isOfOneSign && min(plusSum, minusSum) < absolute * LEAST_SHARE) {
    addEachSign(x, n);
  }
}

/**
 * The least share of Σ
 * x
 *  at which a sign's sum does not lose more than four bits.
 */
const LEAST_SHARE: f64 = 1.0 / 16;

/** Adds up the elements of each sign by themselves, in `plusSum` and `minusSum`. */
function addEachSign(x: usize, n: u32): void {
  const zero = f64x2.splat(0);
  let plusLow = zero;
  let plusHigh = zero;
  let minusLow = zero;
  let minusHigh = zero;
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(x);
    const low = f64x2.promote_low_f32x4(v);
    const high = promoteHigh(v);
    plusLow = f64x2.add(plusLow, f64x2.max(low, zero));
    plusHigh = f64x2.add(plusHigh, f64x2.max(high, zero));
    minusLow = f64x2.sub(minusLow, f64x2.min(low, zero));
    minusHigh = f64x2.sub(minusHigh, f64x2.min(high, zero));
    x += 16;
  }
  plusSum = lanesSum(f64x2.add(plusLow, plusHigh));
  minusSum = lanesSum(f64x2.add(minusLow, minusHigh));
  for (let i: u32 = n & ~3; i < n; i++) {
    const value = <f64>load<f32>(x);
    plusSum += max(value, 0);
    minusSum -= min(value, 0);
    x += 4;
  }
}
