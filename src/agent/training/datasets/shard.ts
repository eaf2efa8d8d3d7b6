/**
 * Deals samples to ranks: a rank gets every world-th, beginning with the rank's number, so that any
 * order in the file (MNIST's test part is easier in its first half) affects all ranks equally.
 * Training shards are cut to equal sizes, since every rank must take part in every iteration; test
 * shards cover everything.
 */
import { inputError } from '../../../shared/errors/errors.ts';

export interface Shard {
  readonly count: number;
  /** The sample's number in its part of the set, for the j-th of the shard. */
  sampleAt(j: number): number;
  /** The place in the shard of a sample, −1 where it belongs to another rank. */
  placeOf(sample: number): number;
}

function everyNth(rank: number, world: number, count: number): Shard {
  return {
    count,
    sampleAt: (j) => rank + j * world,
    placeOf: (sample) => {
      if (sample % world !== rank) return -1;
      const place = (sample - rank) / world;
      return place < count ? place : -1;
    },
  };
}

/**
 * `total` samples in shards of ⌊total/world⌋.
 * @throws GradwireError `DATA_TOO_FEW_SAMPLES` if a rank would have none.
 */
export function trainShard(total: number, rank: number, world: number): Shard {
  const count = Math.floor(total / world);
  if (count === 0) {
    throw inputError(
      'DATA_TOO_FEW_SAMPLES',
      `${total} training samples cannot be shared among ${world} ranks`,
      { place: 'workload.dataset', next: 'Use fewer ranks or a larger data set.' },
    );
  }
  return everyNth(rank, world, count);
}

/** All of `total` samples; a rank may get one more than another, or none. */
export function testShard(total: number, rank: number, world: number): Shard {
  const count = Math.max(0, Math.ceil((total - rank) / world));
  return everyNth(rank, world, count);
}
