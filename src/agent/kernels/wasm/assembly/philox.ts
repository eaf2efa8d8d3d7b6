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
  let c2 = v128.xor(highProducts(multiplier0, c), purposeKey);
  let d2 = v128.xor(highProducts(multiplier0, d), purposeKey);
  // Round 2: the first product.
  let k0 = i32x4.splat(seed + WEYL_0);
  let k1 = i32x4.splat(rank + WEYL_1);
  const second = <u64>MULTIPLIER_0 * <u64>firstWord;
  const firstKey = i32x4.splat((<u32>first) ^ (seed + WEYL_0));
  const secondKey = i32x4.splat((<u32>(second >> 32)) ^ (rank + WEYL_1));
  let c0 = v128.xor(highProducts(multiplier1, c2), firstKey);
  let c1 = i32x4.mul(multiplier1, c2);
  c2 = v128.xor(i32x4.mul(multiplier0, c), secondKey);
  let c3 = i32x4.splat(<u32>second);
  let d0 = v128.xor(highProducts(multiplier1, d2), firstKey);
  let d1 = i32x4.mul(multiplier1, d2);
  d2 = v128.xor(i32x4.mul(multiplier0, d), secondKey);
  let d3 = c3;
  for (let round = 2; round < 10; round++) {
    k0 = i32x4.add(k0, weyl0);
    k1 = i32x4.add(k1, weyl1);
    const cHigh0 = highProducts(multiplier0, c0);
    const cLow0 = i32x4.mul(multiplier0, c0);
    const cHigh1 = highProducts(multiplier1, c2);
    const cLow1 = i32x4.mul(multiplier1, c2);
    c0 = v128.xor(cHigh1, v128.xor(c1, k0));
    c1 = cLow1;
    c2 = v128.xor(cHigh0, v128.xor(c3, k1));
    c3 = cLow0;
    const dHigh0 = highProducts(multiplier0, d0);
    const dLow0 = i32x4.mul(multiplier0, d0);
    const dHigh1 = highProducts(multiplier1, d2);
    const dLow1 = i32x4.mul(multiplier1, d2);
    d0 = v128.xor(dHigh1, v128.xor(d1, k0));
    d1 = dLow1;
    d2 = v128.xor(dHigh0, v128.xor(d3, k1));
    d3 = dLow0;
  }
  storeBlocks(c0, c1, c2, c3, out);
  storeBlocks(d0, d1, d2, d3, out + 64);
}

/**
 * The upper words of the products of four lanes. They need five shuffles; the lower words come from a
 * multiplication of their own, as shuffles are the bottleneck.
 */
function highProducts(a: v128, b: v128): v128 {
  const low = i64x2.extmul_low_i32x4_u(a, b);
  const high = i64x2.extmul_high_i32x4_u(a, b);
  return v128.shuffle<u32>(low, high, 1, 3, 5, 7);
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
