/**
 * Bucketing (fusion): tensors become runs of at least `bucketBytes`, in the order in
 * which backpropagation makes gradients ready, last tensor first. A bucket is a
 * contiguous range of the flat gradient; a tensor is never split.
 */
import type { TensorSlice } from '../compression/method.ts';

export interface FlatTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** First element in the flat gradient. */
  readonly start: number;
  readonly length: number;
}

export interface Bucket {
  readonly index: number;
  /** First element in the flat gradient. */
  readonly start: number;
  readonly length: number;
  /** Ascending by start, positions from the start of the bucket. */
  readonly tensors: readonly TensorSlice[];
}

export function planBuckets(
  tensors: readonly FlatTensor[],
  bucketBytes: number,
): readonly Bucket[] {
  const buckets: Bucket[] = [];
  let run: FlatTensor[] = [];
  let bytes = 0;
  const close = (): void => {
    if (run.length === 0) return;
    const start = run[0]!.start;
    buckets.push({
      index: buckets.length,
      start,
      length: bytes / 4,
      tensors: run.map((tensor) => ({ ...tensor, start: tensor.start - start })),
    });
    run = [];
    bytes = 0;
  };
  for (const tensor of tensors.toReversed()) {
    run.unshift(tensor);
    bytes += 4 * tensor.length;
    if (bytes >= bucketBytes) close();
  }
  close();
  return buckets;
}
