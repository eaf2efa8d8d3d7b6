/**
 * Sums in fixed point, as `../../fixed-point.ts` defines them. Four elements at a time
 * become integers below 2²⁸; their squares go to words of 64 bits that are emptied before
 * they are full. Conversions to integers are relaxed: elements are finite, so nothing has to
 * saturate.
 */
const TWO_64: f32 = 18446744073709551616.0;
const LARGEST: f32 = 3.4028234663852886e38;
const LOW_WORD: u64 = 0xffffffff;
/** Vectors whose squares fit 64 bits: 256 numbers below 2⁵⁶ a lane. */
const SQUARES: u32 = 128;
/** Vectors whose units fit 32 bits. */
const VALUES: u32 = 8;

/** e + 127, of the largest magnitude. */
function exponentOf(largest: f32): u32 {
  return max(reinterpret<u32>(largest) >>> 23, 1);
}

/**
 * Returns one of the two factors by which units are counted, as their product can be beyond f32.
 */
function liftOf(exponent: u32): f32 {
  return exponent < 64 ? TWO_64 : 1;
}

function factorOf(exponent: u32): f32 {
  const power: u32 = exponent < 64 ? 90 - exponent : 154 - exponent;
  return reinterpret<f32>((127 + power) << 23);
}

let sum: i64 = 0;
let squaresLow: u64 = 0;
let squaresHigh: u64 = 0;

/** The lowest 32 bits of Σ units² of the last `fixedSums`. */
function fixedSquaresLow(): u64 {
  return squaresLow & LOW_WORD;
}

/** The bits above. */
function fixedSquaresHigh(): u64 {
  return squaresHigh + (squaresLow >> 32);
}

/** Both sums to memory: Σ, and the two parts of Σ², of 64 bits each. Returns 1. */
export function storeFixedSums(x: usize, n: u32, exponent: u32, out: usize): u32 {
  fixedSums(x, n, exponent);
  store<i64>(out, sum);
  store<u64>(out, fixedSquaresLow(), 8);
  store<u64>(out, fixedSquaresHigh(), 16);
  return 1;
}

/** √Σv² of a run whose largest magnitude is given. */
export function normOf(x: usize, n: u32, largest: f32): f32 {
  const exponent = exponentOf(largest);
  fixedSums(x, n, exponent);
  // The highest 49 or 50 bits, from an even position on: their root has exactly 25.
  const high = fixedSquaresHigh();
  const beyond: i32 = max(0, (33 - <i32>clz(high)) & ~1);
  const squares =
    (high << <u64>(32 - beyond)) | (fixedSquaresLow() >> <u64>beyond);
  const drop: i32 = max(0, (15 - <i32>clz(squares)) & ~1);
  const root = <u64>sqrt(<f64>(squares >> <u64>drop));
  return rounded(root, ((drop + beyond) >> 1) + <i32>exponent - 154);
}

let plusUnits: u64 = 0;
let minusUnits: u64 = 0;
let belowZero: u32 = 0;

let plus: f32 = 0;
let minus: f32 = 0;

/** The mean of the elements ≥ 0 of the last run. */
export function runPlus(): f32 {
  return plus;
}

/** The mean of the elements < 0. */
export function runMinus(): f32 {
  return minus;
}

/** The two means of a run; each class has its own units. */
export function signMeans(x: usize, n: u32): void {
  let above = i32x4.splat(0);
  let below = i32x4.splat(0x80000000);
  const vectors = n >>> 2;
  let from = x;
  for (let i: u32 = 0; i < vectors; i++) {
    const v = v128.load(from);
    above = i32x4.max_s(above, v);
    below = i32x4.max_u(below, v);
    from += 16;
  }
  let most = max(
    max(i32x4.extract_lane(above, 0), i32x4.extract_lane(above, 1)),
    max(i32x4.extract_lane(above, 2), i32x4.extract_lane(above, 3)),
  );
  let least = max(
    max(<u32>i32x4.extract_lane(below, 0), <u32>i32x4.extract_lane(below, 1)),
    max(<u32>i32x4.extract_lane(below, 2), <u32>i32x4.extract_lane(below, 3)),
  );
  for (let i: u32 = n & ~3; i < n; i++) {
    most = max(most, load<i32>(from));
    least = max(least, load<u32>(from));
    from += 4;
  }
  const plusExponent = exponentOf(reinterpret<f32>(most));
  const minusExponent = exponentOf(reinterpret<f32>(least & 0x7fffffff));
  addClasses(x, n, plusExponent, minusExponent);
  const count = belowZero;
  plus = count == n ? 0 : mean(plusUnits, n - count, <i32>plusExponent - 154);
  minus = count == 0 ? 0 : -mean(minusUnits, count, <i32>minusExponent - 154);
}

/** units / count · 2^exponent */
function mean(units: u64, count: u32, exponent: i32): f32 {
  if (units == 0) return 0;
  // From 2⁶² on, so that the quotient has 25 bits and more.
  const up: i32 = <i32>clz(units) - 1;
  return rounded((units << <u64>up) / <u64>count, exponent - up);
}

/** m · 2^exponent, rounded; m may be a truncated number. */
function rounded(m: u64, exponent: i32): f32 {
  const place = max(exponent + 40 - <i32>clz(m), -149);
  const drop = place - exponent;
  if (drop > 63) return 0;
  const kept = drop > 0 ? ((m >> <u64>(drop - 1)) + 1) >> 1 : m << <u64>-drop;
  // The leading bit, if there is one, increments the exponent.
  const bits = (<u64>(place + 149) << 23) + kept;
  return bits < 0x7f800000 ? reinterpret<f32>(<u32>bits) : LARGEST;
}

/** Both sums, of a vector whose largest magnitude has this exponent. */
function fixedSums(x: usize, n: u32, exponent: u32): void {
  const lift = liftOf(exponent);
  const factor = factorOf(exponent);
  const lifts = f32x4.splat(lift);
  const factors = f32x4.splat(factor);
  const mask = i64x2.splat(LOW_WORD);
  let low = i64x2.splat(0);
  let high = i64x2.splat(0);
  let total = i64x2.splat(0);
  const vectors = n >>> 2;
  for (let start: u32 = 0; start < vectors; start += SQUARES) {
    const end = min(start + SQUARES, vectors);
    let part = i64x2.splat(0);
    for (let at = start; at < end; at += VALUES) {
      let values = i32x4.splat(0);
      for (let i: u32 = min(VALUES, end - at); i > 0; i--) {
        const units = i32x4.relaxed_trunc_f32x4_s(
          f32x4.mul(f32x4.mul(v128.load(x), lifts), factors),
        );
        values = i32x4.add(values, units);
        part = i64x2.add(
          part,
          i64x2.add(
            i64x2.extmul_low_i32x4_s(units, units),
            i64x2.extmul_high_i32x4_s(units, units),
          ),
        );
        x += 16;
      }
      total = i64x2.add(total, widened(values));
    }
    low = i64x2.add(low, v128.and(part, mask));
    high = i64x2.add(high, i64x2.shr_u(part, 32));
  }
  sum = i64x2.extract_lane(total, 0) + i64x2.extract_lane(total, 1);
  squaresLow = i64x2.extract_lane(low, 0) + i64x2.extract_lane(low, 1);
  squaresHigh = i64x2.extract_lane(high, 0) + i64x2.extract_lane(high, 1);
  for (let i: u32 = n & ~3; i < n; i++) {
    const units = <i64>(load<f32>(x) * lift * factor);
    sum += units;
    squaresLow += (units * units) & LOW_WORD;
    squaresHigh += (units * units) >> 32;
    x += 4;
  }
}

/** An element's sign tells its class, and which factors are its own. */
function addClasses(
  x: usize,
  n: u32,
  plusExponent: u32,
  minusExponent: u32,
): void {
  const plusLift = liftOf(plusExponent);
  const plusFactor = factorOf(plusExponent);
  const minusLift = liftOf(minusExponent);
  const minusFactor = factorOf(minusExponent);
  const plusLifts = f32x4.splat(plusLift);
  const plusFactors = f32x4.splat(plusFactor);
  const minusLifts = f32x4.splat(minusLift);
  const minusFactors = f32x4.splat(minusFactor);
  const zero = f32x4.splat(0);
  let counts = i32x4.splat(0);
  let above = i64x2.splat(0);
  let below = i64x2.splat(0);
  const vectors = n >>> 2;
  for (let start: u32 = 0; start < vectors; start += VALUES) {
    let plusPart = i32x4.splat(0);
    let minusPart = i32x4.splat(0);
    for (let i: u32 = min(VALUES, vectors - start); i > 0; i--) {
      const v = v128.load(x);
      const negative = f32x4.lt(v, zero);
      const units = i32x4.relaxed_trunc_f32x4_s(
        f32x4.mul(
          f32x4.mul(v, v128.bitselect(minusLifts, plusLifts, negative)),
          v128.bitselect(minusFactors, plusFactors, negative),
        ),
      );
      plusPart = i32x4.add(plusPart, v128.andnot(units, negative));
      minusPart = i32x4.sub(minusPart, v128.and(units, negative));
      counts = i32x4.sub(counts, negative);
      x += 16;
    }
    above = i64x2.add(above, widened(plusPart));
    below = i64x2.add(below, widened(minusPart));
  }
  plusUnits = i64x2.extract_lane(above, 0) + i64x2.extract_lane(above, 1);
  minusUnits = i64x2.extract_lane(below, 0) + i64x2.extract_lane(below, 1);
  belowZero =
    i32x4.extract_lane(counts, 0) +
    i32x4.extract_lane(counts, 1) +
    i32x4.extract_lane(counts, 2) +
    i32x4.extract_lane(counts, 3);
  for (let i: u32 = n & ~3; i < n; i++) {
    const value = load<f32>(x);
    if (value < 0) {
      minusUnits += <u64>(-value * minusLift * minusFactor);
      belowZero++;
    } else {
      plusUnits += <u64>(value * plusLift * plusFactor);
    }
    x += 4;
  }
}

/** Sums of two lanes each, in 64 bits. */
function widened(v: v128): v128 {
  return i64x2.add(i64x2.extend_low_i32x4_s(v), i64x2.extend_high_i32x4_s(v));
}
