/**
 * Stochastic quantisation with a scale for each run of elements; `../../quantization.ts`
 * has the arithmetic. One pass over memory: a run's scale is computed just before its
 * elements are quantised, while they are in the cache. It works on tiles of 32 elements;
 * tiles with parts of two runs, the last tile, and runs with a scale below 2⁻⁶⁴ are
 * processed element by element. Conversions to integers are relaxed: elements are finite, so
 * nothing has to saturate.
 */
import { normOf } from './fixed-point';
import { held } from './held';
import { packCodes, TILE, TILE_BYTES, unpackCodes } from './packed-codes';
import { drawEightBlocks, drawWord, nameStream } from './philox';

const MAGNITUDE: u32 = 0x7fffffff;
const TWO_64: f32 = 18446744073709551616.0;
/** Blocks of the further numbers: elements from 2³³ on. */
const FURTHER: u32 = 0x80000000;

/** Ways to compute scales; `../wasm-quantization.ts` has the same numbers. */
const SCALE_MAX: u32 = 0;
const SCALE_L2: u32 = 1;
const SCALE_GIVEN: u32 = 2;

/** The largest |x|. */
export function maximum(x: usize, n: u32): f32 {
  const mask = held(MAGNITUDE);
  let a = i32x4.splat(0);
  let b = i32x4.splat(0);
  const runs = n >>> 3;
  for (let run: u32 = 0; run < runs; run++) {
    a = i32x4.max_s(a, v128.and(v128.load(x), mask));
    b = i32x4.max_s(b, v128.and(v128.load(x, 16), mask));
    x += 32;
  }
  a = i32x4.max_s(a, b);
  let largest = max(
    max(i32x4.extract_lane(a, 0), i32x4.extract_lane(a, 1)),
    max(i32x4.extract_lane(a, 2), i32x4.extract_lane(a, 3)),
  );
  for (let i: u32 = n & ~7; i < n; i++) {
    largest = max(largest, load<i32>(x) & MAGNITUDE);
    x += 4;
  }
  return reinterpret<f32>(largest);
}

/** The scale of a run of n elements. */
function scaleOf(x: usize, n: u32, kind: u32): f32 {
  const largest = maximum(x, n);
  return kind == SCALE_MAX ? largest : normOf(x, n, largest);
}

function liftOf(scale: f32): f32 {
  if (scale < 1 / TWO_64) return TWO_64;
  return scale > TWO_64 ? 1 / TWO_64 : 1;
}

function factorOf(scale: f32, lift: f32, levels: u32): f32 {
  return scale == 0 ? 0 : (<f32>levels * 65536) / (scale * lift);
}

/**
 * `bits` of a code at `levels` levels. x begins at element `first`, a multiple of 32, of
 * the vector for which the random bits are drawn, from the stream that the last five
 * arguments name. `scratch`: 256 bytes, for the random bits of two tiles, the codes of
 * one and a tail.
 */
export function quantize(
  x: usize,
  n: u32,
  levels: u32,
  bits: u32,
  runLength: u32,
  kind: u32,
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
  nameStream(seed, rank, streamBucket, iteration, purpose);
  const tile = scratch + 2 * TILE_BYTES;
  const tail = tile + TILE_BYTES;
  const top = <f32>levels * 65536;
  const sign: u32 = 1 << (bits - 1);
  let runEnd: u32 = 0;
  let lift: f32 = 1;
  let factor: f32 = 0;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    // Random bits are drawn for two tiles.
    const random = scratch + (<usize>(start & TILE) << 1);
    if ((start & TILE) == 0) drawEightBlocks((first + start) >>> 3, random);
    if (start == runEnd) {
      const length = min(runLength, n - runEnd);
      const scale = runScale(x, length, kind, scales);
      scales += 4;
      runEnd += length;
      lift = liftOf(scale);
      factor = factorOf(scale, lift, levels);
    }
    if (count == TILE && runEnd - start >= TILE) {
      quantizeTile(x, first + start, lift, factor, top, sign, random, tile);
    } else {
      for (let i: u32 = 0; i < count; i++) {
        if (start + i == runEnd) {
          const length = min(runLength, n - runEnd);
          const scale = runScale(x + ((<usize>i) << 2), length, kind, scales);
          scales += 4;
          runEnd += length;
          lift = liftOf(scale);
          factor = factorOf(scale, lift, levels);
        }
        const value = load<f32>(x + ((<usize>i) << 2));
        const y = min(abs(value) * lift * factor, top);
        const bits16 = <u32>load<u16>(random + ((<usize>i) << 1));
        let level = roundUp(y, bits16, first + start + i);
        if (value < 0) level |= sign;
        store<u16>(tile + ((<usize>i) << 1), <u16>level);
      }
      for (let i = count; i < TILE; i++) store<u16>(tile + ((<usize>i) << 1), 0);
    }
    packCodes(tile, count, bits, codes, tail);
    codes += <usize>(bits << 2);
    x += <usize>(TILE << 2);
  }
}

function runScale(x: usize, length: u32, kind: u32, scales: usize): f32 {
  if (kind == SCALE_GIVEN) return load<f32>(scales);
  const scale = scaleOf(x, length, kind);
  store<f32>(scales, scale);
  return scale;
}

/** The level of y, in units of 2⁻¹⁶, rounded by the element's random bits. */
function roundUp(y: f32, random: u32, index: u32): u32 {
  const whole = <u32>y;
  const level = whole >>> 16;
  const fraction = whole & 0xffff;
  if (fraction != random) return level + u32(fraction > random);
  return level + u32(y - <f32>whole > further(index));
}

/** The further number of an element: uniform in [0, 1), 24 bits. */
function further(index: u32): f32 {
  const word = drawWord(FURTHER + (index >>> 2), index & 3);
  return <f32>(word >>> 8) * <f32>(1.0 / 16777216);
}

function quantizeTile(
  x: usize,
  start: u32,
  lift: f32,
  factor: f32,
  top: f32,
  sign: u32,
  random: usize,
  tile: usize,
): void {
  const lifts = f32x4.splat(lift);
  const factors = f32x4.splat(factor);
  const tops = f32x4.splat(top);
  const signs = i16x8.splat(<i16>sign);
  const fractionMask = held(0xffff);
  const one = held(0x00010001);
  const zero = f32x4.splat(0);
  let ties = i16x8.splat(0);
  for (let at: usize = 0; at < TILE_BYTES; at += 16) {
    const a = v128.load(x + (at << 1));
    const b = v128.load(x + (at << 1), 16);
    const aWhole = i32x4.relaxed_trunc_f32x4_s(
      f32x4.pmin(f32x4.mul(f32x4.mul(f32x4.abs(a), lifts), factors), tops),
    );
    const bWhole = i32x4.relaxed_trunc_f32x4_s(
      f32x4.pmin(f32x4.mul(f32x4.mul(f32x4.abs(b), lifts), factors), tops),
    );
    const level = i16x8.narrow_i32x4_u(
      i32x4.shr_u(aWhole, 16),
      i32x4.shr_u(bWhole, 16),
    );
    const fraction = i16x8.narrow_i32x4_u(
      v128.and(aWhole, fractionMask),
      v128.and(bWhole, fractionMask),
    );
    const drawn = v128.load(random + at);
    const up = i16x8.min_u(i16x8.sub_sat_u(fraction, drawn), one);
    ties = v128.or(ties, i16x8.eq(fraction, drawn));
    const negative = i16x8.narrow_i32x4_s(f32x4.lt(a, zero), f32x4.lt(b, zero));
    v128.store(tile + at, v128.or(i16x8.add(level, up), v128.and(negative, signs)));
  }
  if (v128.any_true(ties)) breakTies(x, start, lift, factor, top, random, tile);
}

/**
 * Rounds elements whose 16 random bits equal their fraction: their further number
 * decides.
 */
function breakTies(
  x: usize,
  start: u32,
  lift: f32,
  factor: f32,
  top: f32,
  random: usize,
  tile: usize,
): void {
  for (let i: u32 = 0; i < TILE; i++) {
    const y = min(abs(load<f32>(x + ((<usize>i) << 2))) * lift * factor, top);
    const whole = <u32>y;
    if ((whole & 0xffff) != <u32>load<u16>(random + ((<usize>i) << 1))) continue;
    if (!(y - <f32>whole > further(start + i))) continue;
    const code = tile + ((<usize>i) << 1);
    store<u16>(code, load<u16>(code) + 1);
  }
}

/** `scratch`: 192 bytes. */
export function dequantize(
  out: usize,
  n: u32,
  levels: u32,
  bits: u32,
  runLength: u32,
  scales: usize,
  codes: usize,
  add: bool,
  scratch: usize,
): void {
  const tile = scratch;
  const tail = scratch + TILE_BYTES;
  let runEnd: u32 = 0;
  let unit: f32 = 0;
  // Whether the unit has been lifted by 2⁶⁴.
  let isTiny = false;
  for (let start: u32 = 0; start < n; start += TILE) {
    const count = min(TILE, n - start);
    unpackCodes(codes, count, bits, tile, tail);
    if (start == runEnd) {
      const scale = load<f32>(scales);
      unit = scale / <f32>levels;
      isTiny = scale < 1 / TWO_64;
      if (isTiny) unit = (scale * TWO_64) / <f32>levels;
      scales += 4;
      runEnd += min(runLength, n - runEnd);
    }
    if (count == TILE && runEnd - start >= TILE && !isTiny) {
      dequantizeTile(out, tile, bits, unit, add);
    } else {
      for (let i: u32 = 0; i < count; i++) {
        if (start + i == runEnd) {
          const scale = load<f32>(scales);
          unit = scale / <f32>levels;
          isTiny = scale < 1 / TWO_64;
          if (isTiny) unit = (scale * TWO_64) / <f32>levels;
          scales += 4;
          runEnd += min(runLength, n - runEnd);
        }
        const code = <u32>load<u16>(tile + ((<usize>i) << 1));
        let value = <f32>(code & levelsOf(bits)) * unit;
        if (isTiny) value *= 1 / TWO_64;
        const at = out + ((<usize>i) << 2);
        const before: f32 = add ? load<f32>(at) : 0;
        store<f32>(at, before + (code > levelsOf(bits) ? -value : value));
      }
    }
    codes += <usize>(bits << 2);
    out += <usize>(TILE << 2);
  }
}

/** The largest level that a code of this many bits can have: a mask. */
function levelsOf(bits: u32): u32 {
  return (1 << (bits - 1)) - 1;
}

function dequantizeTile(
  out: usize,
  tile: usize,
  bits: u32,
  unit: f32,
  add: bool,
): void {
  const units = f32x4.splat(unit);
  const mask = i16x8.splat(<i16>levelsOf(bits));
  const signMask = held(0x80000000);
  const zero = f32x4.splat(0);
  const shift = 32 - bits;
  for (let at: usize = 0; at < TILE_BYTES; at += 16) {
    const codes = v128.load(tile + at);
    const levels = v128.and(codes, mask);
    const low = v128.or(
      f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(levels)), units),
      v128.and(i32x4.shl(i32x4.extend_low_i16x8_u(codes), shift), signMask),
    );
    const high = v128.or(
      f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(levels)), units),
      v128.and(i32x4.shl(i32x4.extend_high_i16x8_u(codes), shift), signMask),
    );
    const to = out + (at << 1);
    v128.store(to, f32x4.add(add ? v128.load(to) : zero, low));
    v128.store(to, f32x4.add(add ? v128.load(to, 16) : zero, high), 16);
  }
}

/** `scratch`: 128 bytes. */
export function largestLevel(codes: usize, n: u32, bits: u32, scratch: usize): u32 {
  const mask = i16x8.splat(<i16>levelsOf(bits));
  let largest = i16x8.splat(0);
  for (let start: u32 = 0; start < n; start += TILE) {
    unpackCodes(codes, min(TILE, n - start), bits, scratch, scratch + TILE_BYTES);
    for (let at: usize = 0; at < TILE_BYTES; at += 16) {
      largest = i16x8.max_u(largest, v128.and(v128.load(scratch + at), mask));
    }
    codes += <usize>(bits << 2);
  }
  largest = i16x8.max_u(largest, v128.shuffle<u64>(largest, largest, 1, 0));
  largest = i16x8.max_u(largest, v128.shuffle<u32>(largest, largest, 1, 0, 3, 2));
  const pair = <u32>i32x4.extract_lane(largest, 0);
  return max(pair & 0xffff, pair >>> 16);
}
