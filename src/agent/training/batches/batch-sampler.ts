/**
 * Chooses the samples of a rank's shard for iteration t's batch, as a pure function of (seed, rank,
 * t). Each pass is a fresh shuffle of the whole shard; batches follow one another through the
 * passes without a gap, so a batch may end one and begin the next, and every sample is seen equally
 * often.
 */
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';

export class BatchSampler {
  readonly batch: number;
  readonly #count: number;
  readonly #seed: number;
  readonly #rank: number;
  readonly #order: Uint32Array;
  readonly #random = new RandomSequence({ seed: 0 });
  #pass = -1;

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
    let pass = Math.floor(first / this.#count);
    let place = first - pass * this.#count;
    this.#shuffle(pass);
    for (let i = 0; i < this.batch; i++) {
      if (place === this.#count) {
        place = 0;
        this.#shuffle(++pass);
      }
      out[i] = this.#order[place++]!;
    }
  }

  /** Fisher–Yates from the identity, so that a pass's order has no history. */
  #shuffle(pass: number): void {
    if (pass === this.#pass) return;
    const order = this.#order;
    for (let i = 0; i < order.length; i++) order[i] = i;
    this.#random.rename({
      seed: this.#seed,
      rank: this.#rank,
      iteration: pass % 2 ** 32,
      purpose: purposes.shuffle,
    });
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.#random.below(i + 1);
      const swapped = order[i]!;
      order[i] = order[j]!;
      order[j] = swapped;
    }
    this.#pass = pass;
  }
}
