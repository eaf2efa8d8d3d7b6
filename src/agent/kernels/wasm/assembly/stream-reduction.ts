/**
 * Reductions under sum (0), min (1), max (2) and product (3). In dense vectors under all
 * but sum, an entry of all bits set is absent; its bits are only moved and compared,
 * never computed with. Merging two streams by sum is in `sparse-stream.ts`.
 */

const ABSENT: u32 = 0xffffffff;

// @ts-ignore: decorator
@inline
function apply(op: u32, x: f32, y: f32): f32 {
  if (op == 0) return x + y;
  if (op == 1) return min<f32>(x, y);
  if (op == 2) return max<f32>(x, y);
  return x * y;
}

// @ts-ignore: decorator
@inline
function combineAt(op: u32, out: usize, x: usize): void {
  const theirs = load<u32>(x);
  if (theirs == ABSENT) return;
  if (load<u32>(out) == ABSENT) {
    store<u32>(out, theirs);
    return;
  }
  store<f32>(out, apply(op, load<f32>(out), load<f32>(x)));
}

/** out ← out ∘ x */
export function combine(op: u32, out: usize, x: usize, n: u32): void {
  const absent = i32x4.splat(-1);
  const vectors = n >>> 2;
  for (let i: u32 = 0; i < vectors; i++) {
    const mine = v128.load(out);
    const theirs = v128.load(x);
    let both: v128;
    if (op == 1) both = f32x4.min(mine, theirs);
    else if (op == 2) both = f32x4.max(mine, theirs);
    else if (op == 3) both = f32x4.mul(mine, theirs);
    else both = f32x4.add(mine, theirs);
    both = v128.bitselect(theirs, both, i32x4.eq(mine, absent));
    v128.store(out, v128.bitselect(mine, both, i32x4.eq(theirs, absent)));
    out += 16;
    x += 16;
  }
  for (let i: u32 = n & ~3; i < n; i++) {
    combineAt(op, out, x);
    out += 4;
    x += 4;
  }
}

/** `out` is the address of element 0, though only those of the stream's range exist. */
export function scatter(op: u32, out: usize, stream: usize, count: u32): void {
  let values = stream + ((<usize>count) << 2);
  if (op == 0) {
    for (let i: u32 = 0; i < count; i++) {
      const at = out + ((<usize>load<u32>(stream)) << 2);
      store<f32>(at, load<f32>(at) + load<f32>(values));
      stream += 4;
      values += 4;
    }
    return;
  }
  for (let i: u32 = 0; i < count; i++) {
    combineAt(op, out + ((<usize>load<u32>(stream)) << 2), values);
    stream += 4;
    values += 4;
  }
}

/**
 * O(a + b). Values are written behind room for all indices and moved down once the
 * number of distinct indices, the result, is known.
 */
export function merge(
  op: u32,
  a: usize,
  aCount: u32,
  b: usize,
  bCount: u32,
  out: usize,
): u32 {
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
    if (left == right) store<f32>(values, apply(op, load<f32>(aValues), load<f32>(bValues)));
    else store<u32>(values, left < right ? load<u32>(aValues) : load<u32>(bValues));
    indices += 4;
    values += 4;
    if (left <= right) {
      a += 4;
      aValues += 4;
    }
    if (right <= left) {
      b += 4;
      bValues += 4;
    }
  }
  const aRest = aEnd - a;
  memory.copy(indices, a, aRest);
  memory.copy(values, aValues, aRest);
  indices += aRest;
  values += aRest;
  const bRest = bEnd - b;
  memory.copy(indices, b, bRest);
  memory.copy(values, bValues, bRest);
  indices += bRest;
  values += bRest;
  memory.copy(indices, staging, values - staging);
  return <u32>((indices - out) >>> 2);
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
