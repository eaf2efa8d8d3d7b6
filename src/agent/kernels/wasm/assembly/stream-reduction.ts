/**
 * Reductions under sum (0), min (1), max (2) and product (3), of f32 and of f64 values. In
 * dense vectors under all but sum, an entry of all bits set is absent; its bits are only
 * moved and compared, never computed with. Merging two f32 streams by sum is in
 * `sparse-stream.ts`.
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

/**
 * O(a + b). Values are written behind room for all indices and moved down once the
 * number of distinct indices, the result, is known.
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
  const size: usize = sizeof<T>();
  const aEnd = a + ((<usize>aCount) << 2);
  const bEnd = b + ((<usize>bCount) << 2);
  let aValues = aEnd;
  let bValues = bEnd;
  let indices = out;
  const staging = out + ((<usize>(aCount + bCount)) << 2);
  let values = staging;
  while (a != aEnd && b != bEnd) {
    const left = load<u32>(a);
    const right = load<u32>(b);
    store<u32>(indices, min<u32>(left, right));
    if (left == right) store<T>(values, apply<T>(op, load<T>(aValues), load<T>(bValues)));
    else store<B>(values, left < right ? load<B>(aValues) : load<B>(bValues));
    indices += 4;
    values += size;
    if (left <= right) {
      a += 4;
      aValues += size;
    }
    if (right <= left) {
      b += 4;
      bValues += size;
    }
  }
  const aRest = aEnd - a;
  const aRestValues = (aRest >>> 2) * size;
  memory.copy(indices, a, aRest);
  memory.copy(values, aValues, aRestValues);
  indices += aRest;
  values += aRestValues;
  const bRest = bEnd - b;
  const bRestValues = (bRest >>> 2) * size;
  memory.copy(indices, b, bRest);
  memory.copy(values, bValues, bRestValues);
  indices += bRest;
  values += bRestValues;
  memory.copy(indices, staging, values - staging);
  return <u32>((indices - out) >>> 2);
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
  for (let i: u32 = 0; i < count; i++) {
    const index: u64 = load<u32>(stream);
    if (index < least || index >= <u64>end) return i;
    least = index + 1;
    stream += 4;
  }
  return count;
}
