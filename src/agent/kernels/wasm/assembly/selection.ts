/**
 * Exact top-k selection. The bits of |x|, read as an integer, have the same order as |x|,
 * so the k-th largest magnitude is found by three histogram passes over 11, 10 and 10
 * bits, and one ordered pass writes the entries above it and as many ties as are missing,
 * lowest indices first.
 *
 * For a small k of a large n most of that work is saved: a strided sample gives a
 * threshold that about k or a few more entries reach; one pass at memory speed collects
 * them; the exact selection runs on those alone. If the sample was misleading (fewer than
 * k candidates, or more than there is room for), the selection uses the whole vector, so
 * the result never depends on the sample.
 */
import { held } from './held';

const MAGNITUDE: u32 = 0x7fffffff;
const TOP_SHIFT: u32 = 20;
const MIDDLE_SHIFT: u32 = 10;
const LOW_MASK: u32 = 1023;
/**
 * Four interleaved histograms of the top 11 bits, so that repeats of a bin do not wait
 * for one another.
 */
const TOP_BINS: u32 = 2048;
const TOP_BYTES: u32 = 4 * TOP_BINS;
/** Scratch of the histograms, in bytes. */
const BINS_BYTES: usize = 4 * TOP_BYTES;

/** Number of entries equal to the magnitude found that belong to the k largest. */
export let ties: u32 = 0;

/** Returns the number that the last `descend` or `kthLargest` left in `ties`. */
export function missingTies(): u32 {
  return ties;
}

/** The first bin from the top at which at least `k` entries are counted; `ties` ← rest. */
export function descend(bins: usize, count: u32, k: u32): u32 {
  let bin = count - 1;
  let missing = k;
  while (bin > 0) {
    const entries = load<u32>(bins + ((<usize>bin) << 2));
    if (entries >= missing) break;
    missing -= entries;
    bin--;
  }
  ties = missing;
  return bin;
}

/** Adds the top 11 bits of n magnitudes to the four histograms. */
export function countTop(x: usize, n: u32, bins: usize): void {
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const a = bins + ((load<u32>(x) >>> 18) & 0x1ffc);
    const b = bins + ((load<u32>(x, 4) >>> 18) & 0x1ffc);
    const c = bins + ((load<u32>(x, 8) >>> 18) & 0x1ffc);
    const d = bins + ((load<u32>(x, 12) >>> 18) & 0x1ffc);
    store<u32>(a, load<u32>(a) + 1);
    store<u32>(b, load<u32>(b, TOP_BYTES) + 1, TOP_BYTES);
    store<u32>(c, load<u32>(c, 2 * TOP_BYTES) + 1, 2 * TOP_BYTES);
    store<u32>(d, load<u32>(d, 3 * TOP_BYTES) + 1, 3 * TOP_BYTES);
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    const a = bins + ((load<u32>(x) >>> 18) & 0x1ffc);
    store<u32>(a, load<u32>(a) + 1);
    x += 4;
  }
}

/** Makes one histogram of four. */
export function foldTop(bins: usize): void {
  for (let i: u32 = 0; i < TOP_BYTES; i += 16) {
    const at = bins + <usize>i;
    v128.store(
      at,
      i32x4.add(
        i32x4.add(v128.load(at), v128.load(at, TOP_BYTES)),
        i32x4.add(v128.load(at, 2 * TOP_BYTES), v128.load(at, 3 * TOP_BYTES)),
      ),
    );
  }
}

/** Adds the `count` (a multiple of 4) bins at `from` to those at `bins`. */
export function addBins(bins: usize, from: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i += 4) {
    v128.store(bins, i32x4.add(v128.load(bins), v128.load(from)));
    bins += 16;
    from += 16;
  }
}

/**
 * Adds to a histogram the 10 bits at `shift` of those elements whose bits above them are
 * `prefix`.
 */
export function countBelow(
  x: usize,
  n: u32,
  shift: u32,
  prefix: u32,
  bins: usize,
): void {
  const above = shift + 10;
  const wanted = i32x4.splat(prefix << above);
  const mask = i32x4.splat(MAGNITUDE & ((<u32>-1) << above));
  const runs = n >>> 4;
  for (let run: u32 = 0; run < runs; run++) {
    const a = i32x4.eq(v128.and(v128.load(x), mask), wanted);
    const b = i32x4.eq(v128.and(v128.load(x, 16), mask), wanted);
    const c = i32x4.eq(v128.and(v128.load(x, 32), mask), wanted);
    const d = i32x4.eq(v128.and(v128.load(x, 48), mask), wanted);
    if (v128.any_true(v128.or(v128.or(a, b), v128.or(c, d)))) {
      let lanes: u32 =
        i32x4.bitmask(a) |
        (i32x4.bitmask(b) << 4) |
        (i32x4.bitmask(c) << 8) |
        (i32x4.bitmask(d) << 12);
      while (lanes != 0) {
        const bits = load<u32>(x + ((<usize>ctz(lanes)) << 2));
        const bin = bins + ((<usize>((bits >>> shift) & LOW_MASK)) << 2);
        store<u32>(bin, load<u32>(bin) + 1);
        lanes &= lanes - 1;
      }
    }
    x += 64;
  }
  for (let i: u32 = n & ~15; i < n; i++) {
    const bits = load<u32>(x) & MAGNITUDE;
    if (bits >>> above == prefix) {
      const bin = bins + ((<usize>((bits >>> shift) & LOW_MASK)) << 2);
      store<u32>(bin, load<u32>(bin) + 1);
    }
    x += 4;
  }
}

/** Bits of the k-th largest magnitude, 1 ≤ k ≤ n; leaves `ties`. */
export function kthLargest(x: usize, n: u32, k: u32, bins: usize): u32 {
  memory.fill(bins, 0, BINS_BYTES);
  countTop(x, n, bins);
  foldTop(bins);
  let prefix = descend(bins, TOP_BINS, k);
  memory.fill(bins, 0, 4 * (LOW_MASK + 1));
  countBelow(x, n, MIDDLE_SHIFT, prefix, bins);
  prefix = (prefix << 10) | descend(bins, LOW_MASK + 1, ties);
  memory.fill(bins, 0, 4 * (LOW_MASK + 1));
  countBelow(x, n, 0, prefix, bins);
  return (prefix << 10) | descend(bins, LOW_MASK + 1, ties);
}

/** Elements that are skipped together if none reaches the threshold. */
const SKIPPED: u32 = 32;

/**
 * Writes, in order, every entry above `threshold` and the first `equal` entries at it,
 * but no more than `limit` ≥ 1. x begins at element `first` of the vector that the
 * indices are for. Returns how many.
 */
export function compact(
  x: usize,
  n: u32,
  threshold: u32,
  equal: u32,
  limit: u32,
  first: u32,
  indices: usize,
  values: usize,
): u32 {
  // ≥ takes two instructions, > one.
  const below = i32x4.splat(threshold - 1);
  const mask = held(MAGNITUDE);
  const whole = n & ~(SKIPPED - 1);
  let count: u32 = 0;
  let i: u32 = 0;
  while (i < n) {
    let lanes: u32;
    if (i < whole) {
      // Vectors are loaded again if one reaches the threshold: kept until then they would not
      // fit the registers.
      const largest = i32x4.max_s(
        i32x4.max_s(
          i32x4.max_s(
            v128.and(v128.load(x), mask),
            v128.and(v128.load(x, 16), mask),
          ),
          i32x4.max_s(
            v128.and(v128.load(x, 32), mask),
            v128.and(v128.load(x, 48), mask),
          ),
        ),
        i32x4.max_s(
          i32x4.max_s(
            v128.and(v128.load(x, 64), mask),
            v128.and(v128.load(x, 80), mask),
          ),
          i32x4.max_s(
            v128.and(v128.load(x, 96), mask),
            v128.and(v128.load(x, 112), mask),
          ),
        ),
      );
      if (i32x4.bitmask(i32x4.gt_s(largest, below)) == 0) {
        i += SKIPPED;
        x += <usize>(SKIPPED << 2);
        continue;
      }
      lanes =
        reaching(x, 0, mask, below) |
        (reaching(x, 16, mask, below) << 4) |
        (reaching(x, 32, mask, below) << 8) |
        (reaching(x, 48, mask, below) << 12) |
        (reaching(x, 64, mask, below) << 16) |
        (reaching(x, 80, mask, below) << 20) |
        (reaching(x, 96, mask, below) << 24) |
        (reaching(x, 112, mask, below) << 28);
    } else {
      lanes = ((<u32>1) << (n - i)) - 1;
    }
    while (lanes != 0) {
      const lane = ctz(lanes);
      lanes &= lanes - 1;
      const bits = load<u32>(x + ((<usize>lane) << 2));
      const magnitude = bits & MAGNITUDE;
      if (magnitude < threshold) continue;
      if (magnitude == threshold) {
        if (equal == 0) continue;
        equal--;
      }
      store<u32>(indices, first + i + lane);
      store<u32>(values, bits);
      indices += 4;
      values += 4;
      if (++count == limit) return count;
    }
    i += SKIPPED;
    x += <usize>(SKIPPED << 2);
  }
  return count;
}

/** Lanes of the vector at x + offset whose magnitude is above `below`, as bits. */
function reaching(x: usize, offset: usize, mask: v128, below: v128): u32 {
  const magnitudes = v128.and(v128.load(x + offset), mask);
  return i32x4.bitmask(i32x4.gt_s(magnitudes, below));
}

/** All n elements, as a stream. */
export function selectAll(x: usize, n: u32, out: usize): void {
  const values = out + ((<usize>n) << 2);
  for (let i: u32 = 0; i < n; i++) store<u32>(out + ((<usize>i) << 2), i);
  memory.copy(values, x, (<usize>n) << 2);
}

/** Selects from the whole vector, 1 ≤ k ≤ n. `scratch`: 32 KiB. */
export function selectByRadix(
  x: usize,
  n: u32,
  k: u32,
  out: usize,
  scratch: usize,
): void {
  const threshold = kthLargest(x, n, k, scratch);
  compact(x, n, threshold, ties, k, 0, out, out + ((<usize>k) << 2));
}

/**
 * Selects from the candidates that reach the `sampleRank`-th largest magnitude of a
 * sample of `sampleSize` elements. `scratch`: 32 KiB, then the sample, then `capacity`
 * pairs. Returns false, with nothing selected, if the sample was misleading.
 */
export function selectBySample(
  x: usize,
  n: u32,
  k: u32,
  out: usize,
  scratch: usize,
  sampleSize: u32,
  sampleRank: u32,
  capacity: u32,
): bool {
  const sample = scratch + BINS_BYTES;
  takeSample(x, sampleSize, sampleStride(n, sampleSize), sample);
  const reach = kthLargest(sample, sampleSize, sampleRank, scratch);
  // Most of the sample is zero, so most of the vector is too, and all of it would be a
  // candidate.
  if (reach == 0) return false;

  const indices = sample + ((<usize>sampleSize) << 2);
  const values = indices + ((<usize>capacity) << 2);
  const found = compact(x, n, reach, n, capacity, 0, indices, values);
  if (found < k || found == capacity) return false;

  const threshold = kthLargest(values, found, k, scratch);
  compact(values, found, threshold, ties, k, 0, out, out + ((<usize>k) << 2));
  nameCandidates(out, k, indices);
  return true;
}

/**
 * Returns the stride of a sample, in elements. An odd one does not run along the columns of a
 * matrix of even width.
 */
export function sampleStride(n: u32, sampleSize: u32): u32 {
  return (n / sampleSize - 1) | 1;
}

/** Every `stride`-th element from x on. */
export function takeSample(x: usize, count: u32, stride: u32, out: usize): void {
  const bytes = (<usize>stride) << 2;
  for (let i: u32 = 0; i < count; i++) {
    store<u32>(out, load<u32>(x));
    x += bytes;
    out += 4;
  }
}

/** Turns positions among the candidates into the candidates' own indices, in place. */
export function nameCandidates(positions: usize, count: u32, indices: usize): void {
  for (let i: u32 = 0; i < count; i++) {
    const index = load<u32>(indices + ((<usize>load<u32>(positions)) << 2));
    store<u32>(positions, index);
    positions += 4;
  }
}
