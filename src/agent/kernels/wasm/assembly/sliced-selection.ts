/**
 * Steps of a selection that several threads perform slice by slice. Each slice's result
 * and the destination of its entries are in a tally of four words, so that any thread
 * can perform the slice's next step. Two ways to write entries in order:
 *
 * * count, then compact: `countAtLeast`, places by the caller, `compactSlice`. Reads the
 *   vector twice, needs no room.
 * * collect, then place: `collectSlice` into a room of the thread, places by the caller,
 *   `placeSlices`. Reads the vector once, copies what was found.
 */
import { held } from './held';
import { compact } from './selection';

const MAGNITUDE: u32 = 0x7fffffff;

/** Tally ← entries above `threshold`, entries at it. */
export function countAtLeast(x: usize, n: u32, threshold: u32, tally: usize): void {
  const thresholds = i32x4.splat(threshold);
  const mask = held(MAGNITUDE);
  let aboves = i32x4.splat(0);
  let equals = i32x4.splat(0);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const magnitudes = v128.and(v128.load(x), mask);
    aboves = i32x4.sub(aboves, i32x4.gt_s(magnitudes, thresholds));
    equals = i32x4.sub(equals, i32x4.eq(magnitudes, thresholds));
    x += 16;
  }
  let above: u32 = lanesSum(aboves);
  let equal: u32 = lanesSum(equals);
  for (let i: u32 = n & ~3; i < n; i++) {
    const magnitude = load<u32>(x) & MAGNITUDE;
    above += u32(magnitude > threshold);
    equal += u32(magnitude == threshold);
    x += 4;
  }
  store<u32>(tally, above);
  store<u32>(tally, equal, 4);
}

function lanesSum(v: v128): u32 {
  return (
    i32x4.extract_lane(v, 0) +
    i32x4.extract_lane(v, 1) +
    i32x4.extract_lane(v, 2) +
    i32x4.extract_lane(v, 3)
  );
}

/**
 * Tally: position of the first entry, how many entries, how many of those at threshold.
 */
export function compactSlice(
  x: usize,
  n: u32,
  threshold: u32,
  first: u32,
  tally: usize,
  indices: usize,
  values: usize,
): void {
  const place = (<usize>load<u32>(tally)) << 2;
  const limit = load<u32>(tally, 4);
  const equal = load<u32>(tally, 8);
  if (limit == 0) return;
  compact(x, n, threshold, equal, limit, first, indices + place, values + place);
}

/**
 * Appends the slice's entries ≥ threshold to the thread's room of `capacity` pairs;
 * `cursor` counts its pairs, and `total` those of all threads. Tally ← whether anything
 * may be missing, entries, address of their indices, address of their values. Once there
 * are `capacity` entries in total, slices are skipped: they have no entries, at no address.
 */
export function collectSlice(
  x: usize,
  n: u32,
  threshold: u32,
  first: u32,
  tally: usize,
  cursor: usize,
  total: usize,
  capacity: u32,
  indices: usize,
  values: usize,
): void {
  v128.store(tally, i32x4(1, 0, 0, 0));
  if (atomic.load<u32>(total) >= capacity) return;
  const held = load<u32>(cursor);
  const from = (<usize>held) << 2;
  const room = capacity - held;
  const count = compact(x, n, threshold, n, room, first, indices + from, values + from);
  atomic.add<u32>(total, count);
  store<u32>(cursor, held + count);
  store<u32>(tally, u32(count == room));
  store<u32>(tally, count, 4);
  store<u32>(tally, <u32>(indices + from), 8);
  store<u32>(tally, <u32>(values + from), 12);
}

/** Copies the entries of n tallies to their places. */
export function placeSlices(tally: usize, n: u32, indices: usize, values: usize): void {
  for (let i: u32 = 0; i < n; i++) {
    const place = (<usize>load<u32>(tally)) << 2;
    const bytes = (<usize>load<u32>(tally, 4)) << 2;
    // A copy of nothing still traps if an address is beyond memory.
    if (bytes > 0) {
      memory.copy(indices + place, <usize>load<u32>(tally, 8), bytes);
      memory.copy(values + place, <usize>load<u32>(tally, 12), bytes);
    }
    tally += 16;
  }
}
