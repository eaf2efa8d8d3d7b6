/**
 * Kernels on sparse streams: `count` u32 indices, ascending, then `count` f32 values.
 * Indices may come from another rank, so a kernel that writes through them checks them
 * first and changes nothing if one is out of range.
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
