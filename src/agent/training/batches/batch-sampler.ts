/**
 * Which samples of a rank's shard make up iteration t's batch: a pure function of
 * (seed, rank, t). Each epoch is a fresh shuffle of the whole shard; batches follow one
 * another through the epochs without a gap, so a batch may end one and begin the next,
 * and every sample is seen equally often.
 */
import { purposes, RandomStream } from '../runtime/random-stream.ts';

export class BatchSampler {
  readonly batch: number;
  readonly #count: number;
  readonly #seed: number;
  readonly #rank: number;
  readonly #order: Uint32Array;
  readonly #random = new RandomStream({ seed: 0 });
  #epoch = -1;

  /** Batches of `batch` out of `count` samples. */
  constructor(options: {
    readonly count: number;
    readonly batch: number;
    readonly seed: number;
    readonly rank: number;
  }) {
    if (options.count < 1) throw new Error('internal: a sampler of an empty shard');
    this.batch = options.batch;
    this.#count = options.count;
    this.#seed = options.seed;
    this.#rank = options.rank;
    this.#order = new Uint32Array(options.count);
  }

  /** Writes iteration t's `batch` places in the shard. O(batch), plus the shuffles. */
  fill(iteration: number, out: Uint32Array): void {
    const first = iteration * this.batch;
    let epoch = Math.floor(first / this.#count);
    let place = first - epoch * this.#count;
    this.#shuffle(epoch);
    for (let i = 0; i < this.batch; i++) {
      if (place === this.#count) {
        place = 0;
        this.#shuffle(++epoch);
      }
      out[i] = this.#order[place++]!;
    }
  }

  /** Fisher–Yates from the identity, so that an epoch's order has no history. */
  #shuffle(epoch: number): void {
    if (epoch === this.#epoch) return;
    const order = this.#order;
    for (let i = 0; i < order.length; i++) order[i] = i;
    this.#random.rename({
      seed: this.#seed,
      rank: this.#rank,
      iteration: epoch % 2 ** 32,
      purpose: purposes.shuffle,
    });
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      const swapped = order[i]!;
      order[i] = order[j]!;
      order[j] = swapped;
    }
    this.#epoch = epoch;
  }
}
