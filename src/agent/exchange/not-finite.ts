/**
 * The error for a gradient that is NaN or infinite, which ends the run: where, on which
 * rank, and when.
 */
import { failure, type GradwireError } from '../../shared/errors/errors.ts';
import type { Bucket } from '../plan/buckets.ts';

export interface NotFinite {
  readonly bucket: Bucket;
  /** Element of the bucket. */
  readonly index: number;
  readonly value: number;
  readonly iteration: number;
  readonly rank: number;
}

export function notFiniteError(found: NotFinite): GradwireError {
  const { bucket, index, value, iteration, rank } = found;
  const tensor = bucket.tensors.findLast(({ start }) => start <= index);
  return failure(
    'GRADIENT_NOT_FINITE',
    `the gradient of tensor ${tensor?.name ?? '?'} is ${value} at element ` +
      `${index - (tensor?.start ?? 0)} in iteration ${iteration}`,
    {
      place: `rank ${rank}`,
      rank,
      next: 'Lower the learning rate, or check the data of this rank.',
    },
  );
}
