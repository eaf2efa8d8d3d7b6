/**
 * Philox 4×32-10 for many consecutive numbers: four blocks at a time, one in each lane.
 * The same words as `kernels/random.ts`; the stream is named once and kept in globals.
 */

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

/** Blocks `block` … `block + 3`, 16 words, in order. */
export function drawFourBlocks(block: u32, out: usize): void {
  const multiplier0 = i32x4.splat(MULTIPLIER_0);
  const multiplier1 = i32x4.splat(MULTIPLIER_1);
  const weyl0 = i32x4.splat(WEYL_0);
  const weyl1 = i32x4.splat(WEYL_1);
  let k0 = i32x4.splat(seed);
  let k1 = i32x4.splat(rank);
  let c0 = i32x4.add(i32x4.splat(block), i32x4(0, 1, 2, 3));
  let c1 = i32x4.splat(bucket);
  let c2 = i32x4.splat(iteration);
  let c3 = i32x4.splat(purpose);
  for (let round = 0; round < 10; round++) {
    const aLow = i64x2.extmul_low_i32x4_u(multiplier0, c0);
    const aHigh = i64x2.extmul_high_i32x4_u(multiplier0, c0);
    const bLow = i64x2.extmul_low_i32x4_u(multiplier1, c2);
    const bHigh = i64x2.extmul_high_i32x4_u(multiplier1, c2);
    c0 = v128.xor(v128.xor(v128.shuffle<u32>(bLow, bHigh, 1, 3, 5, 7), c1), k0);
    c1 = v128.shuffle<u32>(bLow, bHigh, 0, 2, 4, 6);
    c2 = v128.xor(v128.xor(v128.shuffle<u32>(aLow, aHigh, 1, 3, 5, 7), c3), k1);
    c3 = v128.shuffle<u32>(aLow, aHigh, 0, 2, 4, 6);
    k0 = i32x4.add(k0, weyl0);
    k1 = i32x4.add(k1, weyl1);
  }
  // Words lie in columns: transposed, each block is a vector.
  const low01 = v128.shuffle<u32>(c0, c1, 0, 4, 1, 5);
  const high01 = v128.shuffle<u32>(c0, c1, 2, 6, 3, 7);
  const low23 = v128.shuffle<u32>(c2, c3, 0, 4, 1, 5);
  const high23 = v128.shuffle<u32>(c2, c3, 2, 6, 3, 7);
  v128.store(out, v128.shuffle<u64>(low01, low23, 0, 2));
  v128.store(out, v128.shuffle<u64>(low01, low23, 1, 3), 16);
  v128.store(out, v128.shuffle<u64>(high01, high23, 0, 2), 32);
  v128.store(out, v128.shuffle<u64>(high01, high23, 1, 3), 48);
}
