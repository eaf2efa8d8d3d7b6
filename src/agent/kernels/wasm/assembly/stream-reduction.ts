/**
 * Reductions under sum (0), min (1), max (2) and product (3), of f32 and of f64 values. In
 * dense vectors under all but sum, an entry of all bits set is absent; its bits are only
 * moved and compared, never computed with.
 *
 * `T` is the type of a value, `B` an integer of its size, signed for the lanes of SIMD.
 */

@inline
function apply<T>(op: u32, x: T, y: T): T {
  if (op == 0) return <T>(x + y);
  if (op == 1) return min<T>(x, y);
  if (op == 2) return max<T>(x, y);
  return <T>(x * y);
}

@inline
function combineAt<T, B>(op: u32, out: usize, x: usize): void {
  const theirs = load<B>(x);
  if (theirs == <B>-1) return;
  if (load<B>(out) == <B>-1) {
    store<B>(out, theirs);
    return;
  }
  store<T>(out, apply<T>(op, load<T>(out), load<T>(x)));
}

/** out ← out + x */
@inline
function sumOf<T>(out: usize, x: usize, n: u32): void {
  const lanes: u32 = 16 / sizeof<T>();
  for (let i: u32 = 0; i < n / lanes; i++) {
    v128.store(out, v128.add<T>(v128.load(out), v128.load(x)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~(lanes - 1); i < n; i++) {
    store<T>(out, <T>(load<T>(out) + load<T>(x)));
    out += sizeof<T>();
    x += sizeof<T>();
  }
}

@inline
function combineOf<T, B>(op: u32, out: usize, x: usize, n: u32): void {
  const lanes: u32 = 16 / sizeof<T>();
  const absent = v128.splat<B>(<B>-1);
  for (let i: u32 = 0; i < n / lanes; i++) {
    const mine = v128.load(out);
    const theirs = v128.load(x);
    let both: v128;
    if (op == 1) both = v128.min<T>(mine, theirs);
    else if (op == 2) both = v128.max<T>(mine, theirs);
    else both = v128.mul<T>(mine, theirs);
    both = v128.bitselect(theirs, both, v128.eq<B>(mine, absent));
    v128.store(out, v128.bitselect(mine, both, v128.eq<B>(theirs, absent)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~(lanes - 1); i < n; i++) {
    combineAt<T, B>(op, out, x);
    out += sizeof<T>();
    x += sizeof<T>();
  }
}

/** out ← out ∘ x */
export function combine(op: u32, out: usize, x: usize, n: u32): void {
  if (op == 0) sumOf<f32>(out, x, n);
  else combineOf<f32, i32>(op, out, x, n);
}

/** out ← out ∘ x */
export function combine64(op: u32, out: usize, x: usize, n: u32): void {
  if (op == 0) sumOf<f64>(out, x, n);
  else combineOf<f64, i64>(op, out, x, n);
}

@inline
function scatterOf<T, B>(op: u32, out: usize, stream: usize, count: u32): void {
  let values = stream + ((<usize>count) << 2);
  if (op == 0) {
    for (let i: u32 = 0; i < count; i++) {
      const at = out + (<usize>load<u32>(stream)) * sizeof<T>();
      store<T>(at, <T>(load<T>(at) + load<T>(values)));
      stream += 4;
      values += sizeof<T>();
    }
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    combineAt<T, B>(op, out + (<usize>load<u32>(stream)) * sizeof<T>(), values);
    stream += 4;
    values += sizeof<T>();
  }
}

/** `out` is the address of element 0, though only those of the stream's range exist. */
export function scatter(op: u32, out: usize, stream: usize, count: u32): void {
  scatterOf<f32, i32>(op, out, stream, count);
}

/** `out` is the address of element 0, though only those of the stream's range exist. */
export function scatter64(op: u32, out: usize, stream: usize, count: u32): void {
  scatterOf<f64, i64>(op, out, stream, count);
}

/** The address of an index's value; values are 1 or 2 times as long as indices. */
@inline
function valueAt<T>(base: usize, index: usize): usize {
  return base + index * (sizeof<T>() >>> 2);
}

/** The base from which `valueAt` finds the values that begin at `values`. */
@inline
function baseOf<T>(values: usize, indices: usize): usize {
  return values - indices * (sizeof<T>() >>> 2);
}

/**
 * The value at the lower index, or both combined if they are equal. With masks: see
 * `mergeOf`.
 */
@inline
function mergedBits<T, B>(
  op: u32,
  left: u32,
  right: u32,
  aValue: usize,
  bValue: usize,
): B {
  const both = reinterpret<B>(apply<T>(op, load<T>(aValue), load<T>(bValue)));
  const one = select<B>(load<B>(aValue), load<B>(bValue), left < right);
  return select<B>(both, one, left == right);
}

/** Merges a pair of ranges to the end. Returns the end of the written indices. */
@inline
function mergeRange<T, B>(
  op: u32,
  a: usize,
  aEnd: usize,
  aBase: usize,
  b: usize,
  bEnd: usize,
  bBase: usize,
  out: usize,
  outBase: usize,
): usize {
  for (;;) {
    let steps = min<usize>(aEnd - a, bEnd - b) >>> 2;
    if (steps == 0) break;
    do {
      const left = load<u32>(a);
      const right = load<u32>(b);
      store<u32>(out, min<u32>(left, right));
      store<B>(
        valueAt<T>(outBase, out),
        mergedBits<T, B>(op, left, right, valueAt<T>(aBase, a), valueAt<T>(bBase, b)),
      );
      out += 4;
      a = select<usize>(a + 4, a, left <= right);
      b = select<usize>(b + 4, b, right <= left);
    } while (--steps);
  }
  const scale = sizeof<T>() >>> 2;
  memory.copy(out, a, aEnd - a);
  memory.copy(valueAt<T>(outBase, out), valueAt<T>(aBase, a), (aEnd - a) * scale);
  out += aEnd - a;
  memory.copy(out, b, bEnd - b);
  memory.copy(valueAt<T>(outBase, out), valueAt<T>(bBase, b), (bEnd - b) * scale);
  return out + (bEnd - b);
}

/** Address of the first index of [from, to) that is not below `bound`. */
function lowerBound(from: usize, to: usize, bound: u32): usize {
  while (from < to) {
    const middle = from + (((to - from) >>> 3) << 2);
    if (load<u32>(middle) < bound) from = middle + 4;
    else to = middle;
  }
  return from;
}

/**
 * O(a + b). Which index comes next is unpredictable, so there is no branch on it, but
 * masks and steps of 0 or 4 bytes; and since each step waits for the previous one, the
 * lower and the upper half of the range are merged side by side. The upper half is
 * written after room for the lower one, values after room for all indices; they are moved
 * down once the number of distinct indices is known.
 */
@inline
function mergeOf<T, B>(
  op: u32,
  a: usize,
  aCount: u32,
  b: usize,
  bCount: u32,
  out: usize,
): u32 {
  const aEnd = a + ((<usize>aCount) << 2);
  const bEnd = b + ((<usize>bCount) << 2);
  const aBase = baseOf<T>(aEnd, a);
  const bBase = baseOf<T>(bEnd, b);
  const staging = out + ((<usize>(aCount + bCount)) << 2);
  const outBase = baseOf<T>(staging, out);
  const aSplit = a + ((<usize>(aCount >>> 1)) << 2);
  const bSplit = aSplit < aEnd ? lowerBound(b, bEnd, load<u32>(aSplit)) : bEnd;
  const upperOut = out + (aSplit - a) + (bSplit - b);
  let a0 = a;
  let b0 = b;
  let out0 = out;
  let a1 = aSplit;
  let b1 = bSplit;
  let out1 = upperOut;
  for (;;) {
    const steps =
      min<usize>(
        min<usize>(aSplit - a0, bSplit - b0),
        min<usize>(aEnd - a1, bEnd - b1),
      ) >>> 2;
    if (steps == 0) break;
    // One half after the other, as the processor overlaps them: few values are needed at a time.
    const last = out0 + (steps << 2);
    const apart = out1 - out0;
    const upperBase = outBase + apart * (sizeof<T>() >>> 2);
    do {
      const left0 = load<u32>(a0);
      const right0 = load<u32>(b0);
      store<u32>(out0, min<u32>(left0, right0));
      store<B>(
        valueAt<T>(outBase, out0),
        mergedBits<T, B>(op, left0, right0, valueAt<T>(aBase, a0), valueAt<T>(bBase, b0)),
      );
      a0 = select<usize>(a0 + 4, a0, left0 <= right0);
      b0 = select<usize>(b0 + 4, b0, right0 <= left0);
      const left1 = load<u32>(a1);
      const right1 = load<u32>(b1);
      store<u32>(out0 + apart, min<u32>(left1, right1));
      store<B>(
        valueAt<T>(upperBase, out0),
        mergedBits<T, B>(op, left1, right1, valueAt<T>(aBase, a1), valueAt<T>(bBase, b1)),
      );
      a1 = select<usize>(a1 + 4, a1, left1 <= right1);
      b1 = select<usize>(b1 + 4, b1, right1 <= left1);
      out0 += 4;
    } while (out0 < last);
    out1 = out0 + apart;
  }
  out0 = mergeRange<T, B>(op, a0, aSplit, aBase, b0, bSplit, bBase, out0, outBase);
  out1 = mergeRange<T, B>(op, a1, aEnd, aBase, b1, bEnd, bBase, out1, outBase);
  const scale = sizeof<T>() >>> 2;
  const upper = out1 - upperOut;
  if (out0 != upperOut) {
    memory.copy(out0, upperOut, upper);
    memory.copy(valueAt<T>(outBase, out0), valueAt<T>(outBase, upperOut), upper * scale);
  }
  const end = out0 + upper;
  if (end != staging) memory.copy(end, staging, (end - out) * scale);
  return <u32>((end - out) >>> 2);
}

/** a ∘ b, written to `out`; its count. */
export function merge(
  op: u32,
  a: usize,
  aCount: u32,
  b: usize,
  bCount: u32,
  out: usize,
): u32 {
  // The most frequent operation on gradients has its own loop.
  if (op == 0) return mergeOf<f32, i32>(0, a, aCount, b, bCount, out);
  return mergeOf<f32, i32>(op, a, aCount, b, bCount, out);
}

/** a ∘ b, written to `out`; its count. */
export function merge64(
  op: u32,
  a: usize,
  aCount: u32,
  b: usize,
  bCount: u32,
  out: usize,
): u32 {
  return mergeOf<f64, i64>(op, a, aCount, b, bCount, out);
}

/** Position of the first index out of order or of [start, end), or `count`. */
export function firstDisordered(stream: usize, count: u32, start: u32, end: u32): u32 {
  let least: u64 = start;
  let i: u32 = 0;
  if (count > 17 && load<u32>(stream) >= start) {
    // Four at a time, as long as each is less than its neighbour and the end; then one by
    // one.
    const ends = i32x4.splat(end);
    for (; i < count - 16; i += 16) {
      const a = v128.load(stream);
      const b = v128.load(stream, 16);
      const c = v128.load(stream, 32);
      const d = v128.load(stream, 48);
      const ordered = v128.and(
        v128.and(
          i32x4.lt_u(a, v128.load(stream, 4)),
          i32x4.lt_u(b, v128.load(stream, 20)),
        ),
        v128.and(
          i32x4.lt_u(c, v128.load(stream, 36)),
          i32x4.lt_u(d, v128.load(stream, 52)),
        ),
      );
      if (!i32x4.all_true(v128.and(ordered, i32x4.lt_u(d, ends)))) break;
      stream += 64;
    }
    if (i > 0) least = <u64>load<u32>(stream - 4) + 1;
  }
  for (; i < count; i++) {
    const index: u64 = load<u32>(stream);
    if (index < least || index >= <u64>end) return i;
    least = index + 1;
    stream += 4;
  }
  return count;
}
