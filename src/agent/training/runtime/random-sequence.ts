/**
 * The project's counter-based generator (kernels/random.ts) read in order: what data,
 * shuffles and first weights draw from. Equal names give equal values on every rank and
 * machine; nothing here depends on what was drawn before under another name.
 */
import { philox, type RandomStream } from '../../kernels/random.ts';

/** Keeps training's draws apart from each other and from the exchange's. */
export const purposes = {
  digitLabel: 0x7401,
  digitImage: 0x7402,
  shuffle: 0x7403,
  weights: 0x7404,
  sentences: 0x7405,
  sparseSample: 0x7406,
  sparseWeight: 0x7407,
  clickSample: 0x7408,
  clickTaste: 0x7409,
  shape: 0x740a,
  reversal: 0x7410,
  syntheticBlock: 0x7411,
  syntheticValue: 0x7412,
} as const;

const WORD = 2 ** -32;
const ROOT_3 = Math.sqrt(3);

export class RandomSequence {
  readonly #key: [number, number] = [0, 0];
  readonly #counter = new Uint32Array(4);
  readonly #words = new Uint32Array(4);
  #next = 4;

  constructor(name: RandomStream) {
    this.rename(name);
  }

  /** Begin another stream in place: for loops that need one per sample. */
  rename(name: RandomStream): void {
    this.#key[0] = name.seed;
    this.#key[1] = name.rank ?? 0;
    this.#counter[0] = 0;
    this.#counter[1] = name.bucket ?? 0;
    this.#counter[2] = name.iteration ?? 0;
    this.#counter[3] = name.purpose ?? 0;
    this.#next = 4;
  }

  /** 32 random bits. */
  word(): number {
    if (this.#next === 4) {
      philox(this.#counter, this.#key, this.#words);
      this.#counter[0] = this.#counter[0]! + 1;
      this.#next = 0;
    }
    return this.#words[this.#next++]!;
  }

  /** Uniform in [0, 1), a multiple of 2⁻³². */
  uniform(): number {
    return this.word() * WORD;
  }

  /** Uniform in [low, high). */
  between(low: number, high: number): number {
    return low + (high - low) * this.uniform();
  }

  /** A whole number in 0…n−1, biased by less than n·2⁻³². */
  below(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  /**
   * Bell-shaped, mean 0, deviation 1, within ±3.5: the sum of four uniforms. Exact
   * arithmetic, unlike Box–Muller's logarithm and cosine, whose last bit may differ
   * between JavaScript engines.
   */
  bell(): number {
    const sum = this.uniform() + this.uniform() + this.uniform() + this.uniform();
    return (sum - 2) * ROOT_3;
  }

  /** `deviation` · bell() for each element, without a call for each word. */
  bells(out: Float32Array, deviation: number): void {
    const words = this.#words;
    for (let i = 0; i < out.length; i++) {
      if (this.#next !== 4) {
        out[i] = deviation * this.bell();
        continue;
      }
      philox(this.#counter, this.#key, words);
      this.#counter[0] = this.#counter[0]! + 1;
      const sum =
        words[0]! * WORD + words[1]! * WORD + words[2]! * WORD + words[3]! * WORD;
      out[i] = deviation * ((sum - 2) * ROOT_3);
    }
  }
}
