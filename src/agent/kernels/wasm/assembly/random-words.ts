/** Philox 4×32-10, block by block: the same words as `kernels/random.ts` draws. */

/** Words 0 … 4·blocks − 1 of the stream with this name. */
export function randomWords(
  out: usize,
  blocks: u32,
  seed: u32,
  rank: u32,
  bucket: u32,
  iteration: u32,
  purpose: u32,
): void {
  for (let block: u32 = 0; block < blocks; block++) {
    let c0 = block;
    let c1 = bucket;
    let c2 = iteration;
    let c3 = purpose;
    let k0 = seed;
    let k1 = rank;
    for (let round = 0; round < 10; round++) {
      const a = <u64>0xd2511f53 * <u64>c0;
      const b = <u64>0xcd9e8d57 * <u64>c2;
      c0 = <u32>(b >> 32) ^ c1 ^ k0;
      c1 = <u32>b;
      c2 = <u32>(a >> 32) ^ c3 ^ k1;
      c3 = <u32>a;
      k0 += 0x9e3779b9;
      k1 += 0xbb67ae85;
    }
    store<u32>(out, c0);
    store<u32>(out, c1, 4);
    store<u32>(out, c2, 8);
    store<u32>(out, c3, 12);
    out += 16;
  }
}
