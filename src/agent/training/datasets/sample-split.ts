/**
 * Splits the samples of one file into a training and a test part, and each part into ranks' shards.
 */
import { requireSame } from './data-file.ts';
import type { RankShard, Samples } from './dataset.ts';
import { testShard, trainShard, type Shard } from './shard.ts';

/** Samples per test sample: every tenth is for testing. */
const TEST_EVERY = 10;

export interface SplitSizes {
  readonly train: number;
  readonly test: number;
}

/** Counts the samples of one file that are for training, and those for testing. */
export function splitSizes(samples: number): SplitSizes {
  const test = Math.floor(samples / TEST_EVERY);
  return { train: samples - test, test };
}

/** Takes the samples of the whole set in their order and keeps those of a rank. */
export class SplitCollector<S extends Samples> {
  readonly #train: S;
  readonly #test: S;
  readonly #trainShard: Shard;
  readonly #testShard: Shard;
  readonly #sizes: SplitSizes;
  /** Samples so far, of all ranks. */
  readonly #seen = { train: 0, test: 0 };

  /** @param allocate room for this many samples */
  constructor(
    {
      rank,
      world,
      ...sizes
    }: SplitSizes & { readonly rank: number; readonly world: number },
    allocate: (count: number) => S,
  ) {
    this.#sizes = sizes;
    this.#trainShard = trainShard(sizes.train, rank, world);
    this.#testShard = testShard(sizes.test, rank, world);
    this.#train = allocate(this.#trainShard.count);
    this.#test = allocate(this.#testShard.count);
  }

  /**
   * Returns the part that the n-th sample of a split file goes to; undefined if the sample is
   * another rank's. Callers ask before they parse the sample.
   */
  ofSplit(n: number): S | undefined {
    const round = Math.floor(n / TEST_EVERY);
    const place = n % TEST_EVERY;
    return place === TEST_EVERY - 1
      ? this.ofTest(round)
      : this.ofTrain(round * (TEST_EVERY - 1) + place);
  }

  ofTrain(n: number): S | undefined {
    this.#seen.train++;
    return this.#trainShard.placeOf(n) < 0 ? undefined : this.#train;
  }

  ofTest(n: number): S | undefined {
    this.#seen.test++;
    return this.#testShard.placeOf(n) < 0 ? undefined : this.#test;
  }

  /** @throws GradwireError `DATA_FILE_CHANGED` where not all samples have come, or more */
  shard(): RankShard<S> {
    const { test, train } = this.#sizes;
    requireSame(this.#seen.train + this.#seen.test, train + test, 'samples');
    return { train: this.#train, test: this.#test };
  }
}
