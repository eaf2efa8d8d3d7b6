/**
 * Gradients without a model: values of a distribution, determined by the seed, a share of which
 * is the same on all ranks. They are copied block by block from banks of values, because no
 * generator fills 10⁸ elements in a GPU's time for a network; so values repeat, in blocks that
 * begin elsewhere each time.
 */
import { log } from '../../../shared/numbers/portable-math.ts';
import type { SyntheticSpec } from '../../../shared/spec/workload-spec.ts';
import { purposes, RandomSequence } from '../runtime/random-sequence.ts';

const BANK = 1 << 20;
const BLOCK = 1 << 12;
/** Deviation of the values, roughly that of gradients. */
const DEVIATION = 0.01;

export class GradientSource {
  readonly #seed: number;
  readonly #rank: number;
  readonly #overlap: number;
  readonly #shared: Float32Array;
  readonly #own: Float32Array;

  constructor({
    seed,
    rank,
    distribution,
    overlap,
  }: Pick<SyntheticSpec, 'distribution' | 'overlap'> & {
    readonly seed: number;
    readonly rank: number;
  }) {
    this.#seed = seed;
    this.#rank = rank;
    this.#overlap = overlap;
    this.#shared = bank(distribution, seed, 0);
    this.#own = bank(distribution, seed, rank + 1);
  }

  /**
   * Writes a part of this rank's gradient.
   * @param start of the part within the gradient
   */
  fill(part: Float32Array, start: number, iteration: number): void {
    const name = { seed: this.#seed, purpose: purposes.syntheticBlock };
    const random = new RandomSequence(name);
    for (let done = 0; done < part.length; done += BLOCK) {
      // By the position in the gradient, the same for all ranks and all parts.
      const block = start + done;
      // In every iteration; otherwise residuals would soon have nothing in common.
      random.rename({ ...name, bucket: block });
      const isShared = random.uniform() < this.#overlap;
      const rank = isShared ? 0 : this.#rank + 1;
      random.rename({ ...name, bucket: block, iteration: iteration + 1, rank });
      const values = isShared ? this.#shared : this.#own;
      const from = random.below(BANK - BLOCK);
      const length = Math.min(BLOCK, part.length - done);
      part.set(values.subarray(from, from + length), done);
    }
  }
}

function bank(
  distribution: SyntheticSpec['distribution'],
  seed: number,
  rank: number,
): Float32Array {
  const random = new RandomSequence({ seed, rank, purpose: purposes.syntheticValue });
  const values = new Float32Array(BANK);
  if (distribution === 'normal') {
    random.bells(values, DEVIATION);
    return values;
  }
  // The difference of two exponentials, of deviation √2 each.
  const exponential = (): number => -log(1 - random.uniform());
  for (let i = 0; i < BANK; i++) {
    values[i] = (DEVIATION / Math.SQRT2) * (exponential() - exponential());
  }
  return values;
}
