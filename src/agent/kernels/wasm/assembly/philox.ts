/**
 * Philox 4×32-10 for many consecutive numbers: eight blocks at a time, in the lanes of two groups.
 * The same words as `kernels/random.ts`; the stream is named once and kept in globals.
 */

import { held } from './held';

let seed: u32 = 0;
let rank: u32 = 0;
let bucket: u32 = 0;
let iteration: u32 = 0;
let purpose: u32 = 0;

const MULTIPLIER_0: u32 = 0xd2511f53;
const MULTIPLIER_1: u32 = 0xcd9e8d57;
const WEYL_0: u32 = 0x9e3779b9;
const WEYL_1: u32 = 0xbb67ae85;

/** The stream that everything below draws from. */
export function nameStream(
  streamSeed: u32,
  streamRank: u32,
  streamBucket: u32,
  streamIteration: u32,
  streamPurpose: u32,
): void {
  seed = streamSeed;
  rank = streamRank;
  bucket = streamBucket;
  iteration = streamIteration;
  purpose = streamPurpose;
}

/** Word `word` (0 … 3) of block `block`. */
export function drawWord(block: u32, word: u32): u32 {
  let c0 = block;
  let c1 = bucket;
  let c2 = iteration;
  let c3 = purpose;
  let k0 = seed;
  let k1 = rank;
  for (let round = 0; round < 10; round++) {
    const a = <u64>MULTIPLIER_0 * <u64>c0;
    const b = <u64>MULTIPLIER_1 * <u64>c2;
    c0 = (<u32>(b >> 32)) ^ c1 ^ k0;
    c1 = <u32>b;
    c2 = (<u32>(a >> 32)) ^ c3 ^ k1;
    c3 = <u32>a;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  return word == 0 ? c0 : word == 1 ? c1 : word == 2 ? c2 : c3;
}

/**
 * Blocks `block` … `block + 7`, 32 words, in order. Two groups of four take turns: a round
 * waits for its products, and one group alone would leave the multiplier idle. Of a counter
 * only the first word differs between blocks, so half of the first two rounds is the same for
 * all and computed once, on scalars.
 */
export function drawEightBlocks(block: u32, out: usize): void {
  const multiplier0 = held(MULTIPLIER_0);
  const multiplier1 = held(MULTIPLIER_1);
  const weyl0 = held(WEYL_0);
  const weyl1 = held(WEYL_1);
  // Round 1: the second product.
  const first = <u64>MULTIPLIER_1 * <u64>iteration;
  const firstWord = (<u32>(first >> 32)) ^ bucket ^ seed;
  const purposeKey = i32x4.splat(purpose ^ rank);
  const c = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3));
  const d = i32x4.add(c, i32x4.splat(4));
  const cLow = i64x2.extmul_low_i32x4_u(multiplier0, c);
  const cHigh = i64x2.extmul_high_i32x4_u(multiplier0, c);
  const dLow = i64x2.extmul_low_i32x4_u(multiplier0, d);
  const dHigh = i64x2.extmul_high_i32x4_u(multiplier0, d);
  let c2 = v128.xor(highWords(cLow, cHigh), purposeKey);
  let d2 = v128.xor(highWords(dLow, dHigh), purposeKey);
  // Round 2: the first product.
  let k0 = i32x4.splat(seed + WEYL_0);
  let k1 = i32x4.splat(rank + WEYL_1);
  const second = <u64>MULTIPLIER_0 * <u64>firstWord;
  const firstKey = i32x4.splat((<u32>first) ^ (seed + WEYL_0));
  const secondKey = i32x4.splat((<u32>(second >> 32)) ^ (rank + WEYL_1));
  const c2Low = i64x2.extmul_low_i32x4_u(multiplier1, c2);
  const c2High = i64x2.extmul_high_i32x4_u(multiplier1, c2);
  const d2Low = i64x2.extmul_low_i32x4_u(multiplier1, d2);
  const d2High = i64x2.extmul_high_i32x4_u(multiplier1, d2);
  let c0 = v128.xor(highWords(c2Low, c2High), firstKey);
  let c1 = lowWords(c2Low, c2High);
  c2 = v128.xor(lowWords(cLow, cHigh), secondKey);
  let c3 = i32x4.splat(<u32>second);
  let d0 = v128.xor(highWords(d2Low, d2High), firstKey);
  let d1 = lowWords(d2Low, d2High);
  d2 = v128.xor(lowWords(dLow, dHigh), secondKey);
  let d3 = c3;
  for (let round = 2; round < 10; round++) {
    k0 = i32x4.add(k0, weyl0);
    k1 = i32x4.add(k1, weyl1);
    const aLow = i64x2.extmul_low_i32x4_u(multiplier0, c0);
    const aHigh = i64x2.extmul_high_i32x4_u(multiplier0, c0);
    const bLow = i64x2.extmul_low_i32x4_u(multiplier1, c2);
    const bHigh = i64x2.extmul_high_i32x4_u(multiplier1, c2);
    c0 = v128.xor(highWords(bLow, bHigh), v128.xor(c1, k0));
    c1 = lowWords(bLow, bHigh);
    c2 = v128.xor(highWords(aLow, aHigh), v128.xor(c3, k1));
    c3 = lowWords(aLow, aHigh);
    const eLow = i64x2.extmul_low_i32x4_u(multiplier0, d0);
    const eHigh = i64x2.extmul_high_i32x4_u(multiplier0, d0);
    const fLow = i64x2.extmul_low_i32x4_u(multiplier1, d2);
    const fHigh = i64x2.extmul_high_i32x4_u(multiplier1, d2);
    d0 = v128.xor(highWords(fLow, fHigh), v128.xor(d1, k0));
    d1 = lowWords(fLow, fHigh);
    d2 = v128.xor(highWords(eLow, eHigh), v128.xor(d3, k1));
    d3 = lowWords(eLow, eHigh);
  }
  storeBlocks(c0, c1, c2, c3, out);
  storeBlocks(d0, d1, d2, d3, out + 64);
}

/** Of four 64-bit products, the upper words. */
function highWords(low: v128, high: v128): v128 {
  return v128.shuffle<u32>(low, high, 1, 3, 5, 7);
}

function lowWords(low: v128, high: v128): v128 {
  return v128.shuffle<u32>(low, high, 0, 2, 4, 6);
}

/** Words lie in columns: transposed, each block is a vector. */
function storeBlocks(c0: v128, c1: v128, c2: v128, c3: v128, out: usize): void {
  const low01 = v128.shuffle<u32>(c0, c1, 0, 4, 1, 5);
  const high01 = v128.shuffle<u32>(c0, c1, 2, 6, 3, 7);
  const low23 = v128.shuffle<u32>(c2, c3, 0, 4, 1, 5);
  const high23 = v128.shuffle<u32>(c2, c3, 2, 6, 3, 7);
  v128.store(out, v128.shuffle<u64>(low01, low23, 0, 2));
  v128.store(out, v128.shuffle<u64>(low01, low23, 1, 3), 16);
  v128.store(out, v128.shuffle<u64>(high01, high23, 0, 2), 32);
  v128.store(out, v128.shuffle<u64>(high01, high23, 1, 3), 48);
}
