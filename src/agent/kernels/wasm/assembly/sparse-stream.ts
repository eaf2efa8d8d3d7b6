/**
 * Kernels on sparse streams: `count` u32 indices, ascending, then `count` f32 values.
 * Indices may come from another rank, so a kernel that writes through them checks them
 * first and touches nothing if one is outside.
 */

/** Position of the first index ≥ n, or `count`. */
export function firstOutside(stream: usize, count: u32, n: u32): u32 {
  for (let i: u32 = 0; i < count; i++) {
    if (load<u32>(stream + ((<usize>i) << 2)) >= n) return i;
  }
  return count;
}

/** Returns the position of the first bad index, or `count`: done. */
export function clearAt(x: usize, n: u32, stream: usize, count: u32): u32 {
  const outside = firstOutside(stream, count, n);
  if (outside < count) return outside;
  for (let i: u32 = 0; i < count; i++) {
    store<f32>(x + ((<usize>load<u32>(stream)) << 2), 0);
    stream += 4;
  }
  return count;
}

/** Returns the position of the first bad index, or `count`: done. */
export function scatterAdd(
  out: usize,
  n: u32,
  stream: usize,
  count: u32,
  factor: f32,
): u32 {
  const outside = firstOutside(stream, count, n);
  if (outside < count) return outside;
  let values = stream + ((<usize>count) << 2);
  for (let i: u32 = 0; i < count; i++) {
    const at = out + ((<usize>load<u32>(stream)) << 2);
    store<f32>(at, load<f32>(at) + load<f32>(values) * factor);
    stream += 4;
    values += 4;
  }
  return count;
}

/**
 * The sum of two streams, O(a + b). Values are written behind room for all indices and
 * moved down once the number of distinct indices, the result, is known.
 */
export function mergeStreams(
  a: usize,
  aCount: u32,
  b: usize,
  bCount: u32,
  out: usize,
): u32 {
  let aValues = a + ((<usize>aCount) << 2);
  let bValues = b + ((<usize>bCount) << 2);
  let indices = out;
  const staging = out + ((<usize>(aCount + bCount)) << 2);
  let values = staging;
  let i: u32 = 0;
  let j: u32 = 0;
  while (i < aCount && j < bCount) {
    const left = load<u32>(a);
    const right = load<u32>(b);
    if (left < right) {
      store<u32>(indices, left);
      store<f32>(values, load<f32>(aValues));
    } else if (right < left) {
      store<u32>(indices, right);
      store<f32>(values, load<f32>(bValues));
    } else {
      store<u32>(indices, left);
      store<f32>(values, load<f32>(aValues) + load<f32>(bValues));
    }
    indices += 4;
    values += 4;
    if (left <= right) {
      i++;
      a += 4;
      aValues += 4;
    }
    if (right <= left) {
      j++;
      b += 4;
      bValues += 4;
    }
  }
  const aRest = (<usize>(aCount - i)) << 2;
  memory.copy(indices, a, aRest);
  memory.copy(values, aValues, aRest);
  indices += aRest;
  values += aRest;
  const bRest = (<usize>(bCount - j)) << 2;
  memory.copy(indices, b, bRest);
  memory.copy(values, bValues, bRest);
  indices += bRest;
  values += bRest;
  memory.copy(indices, staging, values - staging);
  return <u32>((indices - out) >>> 2);
}
