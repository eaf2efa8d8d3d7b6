/**
 * Bucketing (fusion): tensors of equal method and parameters become buckets of at least
 * `bucketBytes`, in the order in which backpropagation makes gradients ready, last tensor
 * first. A tensor is never split. Methods that use the whole model have one bucket
 * (`inOneBucket`). Where models step in turns, each has buckets of its own. If all tensors have the same method, a bucket is a contiguous range of
 * the flat gradient; otherwise its tensors may not be adjacent there.
 */
import type { ExchangePlan } from '../../shared/plan/exchange-plan.ts';
import type { TensorSlice } from '../methods/method.ts';
import { policyKey, policyOf, type TensorPolicy } from './tensor-policy.ts';

export interface FlatTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** First element in the flat gradient. */
  readonly start: number;
  readonly length: number;
  /** Index of the model that it belongs to, where models step in turns. */
  readonly model?: number | undefined;
}

/** A contiguous range of the flat gradient, and its position in a bucket. */
export interface BucketRun {
  /** First element in the flat gradient. */
  readonly flat: number;
  /** First element in the bucket. */
  readonly start: number;
  readonly length: number;
}

export interface Bucket {
  readonly index: number;
  readonly length: number;
  readonly policy: TensorPolicy;
  /** Index of the model of its tensors, where models step in turns. */
  readonly model: number | undefined;
  /** Runs, ascending and as few as possible: one if the bucket is contiguous. */
  readonly runs: readonly BucketRun[];
  /** Tensors, ascending by start, positions from the start of the bucket. */
  readonly tensors: readonly TensorSlice[];
}

interface OpenBucket {
  readonly policy: TensorPolicy;
  readonly tensors: FlatTensor[];
  bytes: number;
}

export function planBuckets(
  tensors: readonly FlatTensor[],
  plan: ExchangePlan,
): readonly Bucket[] {
  const buckets: Bucket[] = [];
  const open = new Map<string, OpenBucket>();
  const closeAll = (): void => {
    for (const bucket of open.values()) buckets.push(close(bucket, buckets.length));
    open.clear();
  };
  let model = tensors.at(-1)?.model;
  for (const tensor of tensors.toReversed()) {
    if (tensor.model !== model) closeAll();
    ({ model } = tensor);
    const policy = policyOf(plan, tensor);
    const key = policyKey(policy);
    let bucket = open.get(key);
    if (bucket === undefined)
      open.set(key, (bucket = { policy, tensors: [], bytes: 0 }));
    bucket.tensors.unshift(tensor);
    bucket.bytes += 4 * tensor.length;
    const { method, parameters } = policy;
    const whole = method.inOneBucket?.(parameters) === true;
    if (whole || bucket.bytes < plan.bucketBytes) continue;
    buckets.push(close(bucket, buckets.length));
    open.delete(key);
  }
  closeAll();
  return buckets;
}

/** The first of the longest; there is at least one. */
export const largestOf = <B extends Pick<Bucket, 'length'>>(buckets: readonly B[]): B =>
  buckets.reduce((largest, bucket) =>
    bucket.length > largest.length ? bucket : largest,
  );

function close({ policy, tensors, bytes }: OpenBucket, index: number): Bucket {
  const runs: BucketRun[] = [];
  const slices: TensorSlice[] = [];
  let start = 0;
  for (const { name, shape, length, start: flat } of tensors) {
    slices.push({ name, shape, length, start });
    const last = runs.at(-1);
    if (last !== undefined && last.flat + last.length === flat) {
      runs[runs.length - 1] = { ...last, length: last.length + length };
    } else {
      runs.push({ flat, start, length });
    }
    start += length;
  }
  const { model } = tensors[0]!;
  return { index, length: bytes / 4, policy, model, runs, tensors: slices };
}
