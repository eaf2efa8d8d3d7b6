/**
 * A vector of f32 on the GPU: parts in one buffer or several, because bindings are
 * limited in size. A slice shares the memory. Kernels work on windows: stretches that are
 * within a single part of every vector involved.
 */

/** `length` f32 elements that start at byte `offset` of a buffer. */
export interface BufferRange {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly length: number;
}

export interface GpuVector {
  readonly length: number;
  /** Parts of the vector in the order of elements; none is empty. */
  readonly parts: readonly BufferRange[];
}

/** A stretch of some vectors: `first` is its first element in them. */
export interface GpuWindow {
  readonly first: number;
  readonly length: number;
  /** The stretch in each of the vectors, in the order in which they were given. */
  readonly parts: readonly [BufferRange, ...BufferRange[]];
}

export function sliceOf(vector: GpuVector, start: number, length: number): GpuVector {
  if (start < 0 || length < 0 || start + length > vector.length) {
    throw new Error(`internal: ${start} + ${length} of ${vector.length} elements`);
  }
  const parts: BufferRange[] = [];
  let first = 0;
  for (const part of vector.parts) {
    const from = Math.max(start, first);
    const to = Math.min(start + length, first + part.length);
    if (from < to) {
      const offset = part.offset + 4 * (from - first);
      parts.push({ buffer: part.buffer, offset, length: to - from });
    }
    first += part.length;
  }
  return { length, parts };
}

/**
 * The windows of vectors of one length, ascending: each as long as possible without
 * crossing the end of a part or exceeding `most` elements.
 */
export function* windowsOf(
  vectors: readonly [GpuVector, ...GpuVector[]],
  most = Infinity,
): Generator<GpuWindow> {
  const { length } = vectors[0];
  if (vectors.some((vector) => vector.length !== length)) {
    throw new Error('internal: windows of vectors of different lengths');
  }
  const places = vectors.map(() => ({ part: 0, used: 0 }));
  let first = 0;
  while (first < length) {
    const rests = vectors.map((vector, i) => {
      const { part, used } = places[i]!;
      return vector.parts[part]!.length - used;
    });
    const size = Math.min(most, ...rests);
    const parts = vectors.map((vector, i) => {
      const { part, used } = places[i]!;
      const { buffer, offset } = vector.parts[part]!;
      places[i] =
        size === rests[i] ? { part: part + 1, used: 0 } : { part, used: used + size };
      return { buffer, offset: offset + 4 * used, length: size };
    }) as [BufferRange, ...BufferRange[]];
    yield { first, length: size, parts };
    first += size;
  }
}

/** A whole buffer. */
export function wholeOf(buffer: GPUBuffer): BufferRange {
  return { buffer, offset: 0, length: buffer.size / 4 };
}
