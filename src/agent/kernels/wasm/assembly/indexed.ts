/**
 * Reading a vector through a list of indices, and drawing such a list at random. Indices
 * may come from another rank: they are checked before anything is written.
 */
import { drawEightBlocks, nameStream } from './philox';
import { firstOutside } from './sparse-stream';

/** Returns the position of the first bad index, or `count`: done. */
export function gatherAt(x: usize, n: u32, list: usize, count: u32, out: usize): u32 {
  const outside = firstOutside(list, count, n);
  if (outside < count) return outside;
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(out, load<u32>(x + ((<usize>load<u32>(list)) << 2)));
    list += 4;
    out += 4;
  }
  return count;
}

/** Marks index `i` in the bitmap; false if it was marked before. */
function mark(bitmap: usize, i: u32): bool {
  const at = bitmap + <usize>(i >>> 3);
  const bit: u32 = 1 << (i & 7);
  const byte: u32 = load<u8>(at);
  if ((byte & bit) != 0) return false;
  store<u8>(at, <u8>(byte | bit));
  return true;
}

/**
 * Floyd's sample of k of n (Bentley and Floyd, CACM 1987): for j from n − k up, one of
 * [0, j], or j itself if that one was drawn before. A draw takes two words of the stream
 * that the last five arguments name. `words`: 128 bytes; `bitmap`: ⌈n / 64⌉ words of 8
 * bytes, whose order sorts the result.
 */
export function sampleIndices(
  n: u32,
  k: u32,
  words: usize,
  bitmap: usize,
  out: usize,
  seed: u32,
  rank: u32,
  streamBucket: u32,
  iteration: u32,
  purpose: u32,
): void {
  nameStream(seed, rank, streamBucket, iteration, purpose);
  const blocks: u32 = (n >>> 6) + (n & 63 ? 1 : 0);
  memory.fill(bitmap, 0, (<usize>blocks) << 3);
  for (let draw: u32 = 0; draw < k; draw++) {
    if ((draw & 15) == 0) drawEightBlocks(draw >>> 1, words);
    const at = words + ((<usize>(draw & 15)) << 3);
    const uniform =
      ((<f64>load<u32>(at)) * 2097152.0 + <f64>(load<u32>(at, 4) >>> 11)) *
      1.1102230246251565e-16;
    const j: u32 = n - k + draw;
    const drawn = <u32>(uniform * ((<f64>j) + 1.0));
    if (!mark(bitmap, drawn)) mark(bitmap, j);
  }
  let first: u32 = 0;
  for (let block: u32 = 0; block < blocks; block++) {
    let bits = load<u64>(bitmap);
    while (bits != 0) {
      store<u32>(out, first + <u32>ctz(bits));
      bits &= bits - 1;
      out += 4;
    }
    bitmap += 8;
    first += 64;
  }
}
