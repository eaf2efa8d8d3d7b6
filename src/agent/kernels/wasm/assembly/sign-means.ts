/**
 * One bit per element, its sign, with the means of both classes for each run. Runs need
 * not end at whole bytes, so heads and tails of words are processed bit by bit.
 */
import { runMinus, runPlus, signMeans } from './fixed-point';

/** x ← x − reconstruction. Three passes over a run that is in the cache. */
export function quantizeSigns(
  x: usize,
  n: u32,
  runLength: u32,
  means: usize,
  signs: usize,
): void {
  memory.fill(signs, 0, <usize>(((n + 31) >>> 5) << 2));
  for (let start: u32 = 0; start < n;) {
    const end = start + min(runLength, n - start);
    signMeans(x + ((<usize>start) << 2), end - start);
    const plus = runPlus();
    const minus = runMinus();
    store<f32>(means, plus);
    store<f32>(means, minus, 4);
    means += 8;
    let i = start;
    while (i < end && (i & 31) != 0) takeSign(x, signs, i++, plus, minus);
    const pluses = f32x4.splat(plus);
    const minuses = f32x4.splat(minus);
    const zero = f32x4.splat(0);
    while (end - i >= 32) {
      let word: u32 = 0;
      let from = x + ((<usize>i) << 2);
      for (let bit: u32 = 0; bit < 32; bit += 4) {
        const v = v128.load(from);
        const negative = f32x4.lt(v, zero);
        word |= (<u32>i32x4.bitmask(negative)) << bit;
        v128.store(from, f32x4.sub(v, v128.bitselect(minuses, pluses, negative)));
        from += 16;
      }
      store<u32>(signs + (i >>> 3), word);
      i += 32;
    }
    while (i < end) takeSign(x, signs, i++, plus, minus);
    start = end;
  }
}

function takeSign(x: usize, signs: usize, i: u32, plus: f32, minus: f32): void {
  const at = x + ((<usize>i) << 2);
  const value = load<f32>(at);
  if (value < 0) {
    const byte = signs + (i >>> 3);
    store<u8>(byte, load<u8>(byte) | (<u8>((<u32>1) << (i & 7))));
    store<f32>(at, value - minus);
  } else {
    store<f32>(at, value - plus);
  }
}

export function dequantizeSigns(
  out: usize,
  n: u32,
  runLength: u32,
  means: usize,
  signs: usize,
  add: bool,
): void {
  for (let start: u32 = 0; start < n;) {
    const end = start + min(runLength, n - start);
    const plus = load<f32>(means);
    const minus = load<f32>(means, 4);
    means += 8;
    let i = start;
    while (i < end && (i & 31) != 0) addSign(out, signs, i++, plus, minus, add);
    const pluses = f32x4.splat(plus);
    const minuses = f32x4.splat(minus);
    const zero = f32x4.splat(0);
    while (end - i >= 32) {
      const word = i32x4.splat(load<u32>(signs + (i >>> 3)));
      let bits = i32x4(1, 2, 4, 8);
      let to = out + ((<usize>i) << 2);
      for (let bit: u32 = 0; bit < 32; bit += 4) {
        const negative = i32x4.eq(v128.and(word, bits), bits);
        const value = v128.bitselect(minuses, pluses, negative);
        v128.store(to, f32x4.add(add ? v128.load(to) : zero, value));
        bits = i32x4.shl(bits, 4);
        to += 16;
      }
      i += 32;
    }
    while (i < end) addSign(out, signs, i++, plus, minus, add);
    start = end;
  }
}

function addSign(
  out: usize,
  signs: usize,
  i: u32,
  plus: f32,
  minus: f32,
  add: bool,
): void {
  const negative = (load<u8>(signs + (i >>> 3)) >> (<u8>(i & 7))) & 1;
  const at = out + ((<usize>i) << 2);
  const before: f32 = add ? load<f32>(at) : 0;
  store<f32>(at, before + (negative ? minus : plus));
}
