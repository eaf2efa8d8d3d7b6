/**
 * Selections that begin with a threshold instead of a number of entries, and top-k of
 * many short runs. For a small k a run's k-th largest magnitude is found by insertion
 * into a sorted list, which few entries reach, as four lanes at a time are tested;
 * otherwise with the histograms.
 */
import { held } from './held';
import { compact, kthLargest, ties } from './selection';

const MAGNITUDE: u32 = 0x7fffffff;
/** The largest k for which insertion costs less than clearing the histograms. */
const INSERTED: u32 = 32;

/** |x| ≥ threshold, at most `limit` entries, as `compact`. Returns how many. */
export function appendAtLeast(
  x: usize,
  n: u32,
  threshold: f32,
  first: u32,
  limit: u32,
  indices: usize,
  values: usize,
): u32 {
  if (limit == 0) return 0;
  // Bits of magnitudes have the same order as the magnitudes; −0 as a threshold is 0.
  const bits = reinterpret<u32>(threshold) & MAGNITUDE;
  return compact(x, n, bits, n, limit, first, indices, values);
}

/** The k-th largest |x|, 1 ≤ k ≤ n. */
export function kthMagnitude(x: usize, n: u32, k: u32, scratch: usize): f32 {
  return reinterpret<f32>(kthLargest(x, n, k, scratch));
}

let runTies: u32 = 0;

/**
 * Finds the k-th largest magnitude, as `kthLargest`; k ≤ INSERTED. Leaves `runTies`. `list`: k
 * words.
 */
function kthOfRun(x: usize, n: u32, k: u32, list: usize): u32 {
  memory.fill(list, 0, (<usize>k) << 2);
  const last = list + ((<usize>(k - 1)) << 2);
  const mask = held(MAGNITUDE);
  let smallest: u32 = 0;
  for (let i: u32 = 0; i < n; i += 4) {
    let lanes: u32;
    if (i + 4 <= n) {
      const magnitudes = v128.and(v128.load(x), mask);
      lanes = i32x4.bitmask(i32x4.gt_s(magnitudes, i32x4.splat(smallest)));
    } else {
      lanes = (1 << (n - i)) - 1;
    }
    while (lanes != 0) {
      const magnitude = load<u32>(x + ((<usize>ctz(lanes)) << 2)) & MAGNITUDE;
      lanes &= lanes - 1;
      if (magnitude <= smallest) continue;
      let at = last;
      while (at > list && load<u32>(at - 4) < magnitude) {
        store<u32>(at, load<u32>(at - 4));
        at -= 4;
      }
      store<u32>(at, magnitude);
      smallest = load<u32>(last);
    }
    x += 16;
  }
  runTies = 0;
  let at = list;
  for (let i: u32 = 0; i < k; i++) {
    if (load<u32>(at) == smallest) runTies++;
    at += 4;
  }
  return smallest;
}

/**
 * Writes min(k, run) pairs of each whole run, min(tailK, rest) of the last. x begins at
 * element `first` of the vector that the indices are for. `scratch`: 32 KiB.
 */
export function selectTopKPerRun(
  x: usize,
  n: u32,
  run: u32,
  k: u32,
  tailK: u32,
  first: u32,
  indices: usize,
  values: usize,
  scratch: usize,
): void {
  for (let start: u32 = 0; start < n; ) {
    const length = min(run, n - start);
    const count = min(length == run ? k : tailK, length);
    if (count > 0) {
      let threshold: u32 = 0;
      let equal: u32 = length;
      if (count < length) {
        if (count <= INSERTED) {
          threshold = kthOfRun(x, length, count, scratch);
          equal = runTies;
        } else {
          threshold = kthLargest(x, length, count, scratch);
          equal = ties;
        }
      }
      compact(x, length, threshold, equal, count, first + start, indices, values);
      indices += (<usize>count) << 2;
      values += (<usize>count) << 2;
    }
    x += (<usize>length) << 2;
    start += length;
  }
}
