/**
 * Random numbers by counting: Philox 4×32-10 (Salmon et al., "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). Number `index` of a stream is a pure function of the
 * stream's name (seed, rank, bucket, iteration, purpose) and the index, so that any part
 * of a vector can be drawn in any order, in any process, with the same result. Streams
 * with different names are independent. It is not for secrets.
 */
import { z } from 'zod';
import { checkedOptions } from '../../shared/checks/checked-options.ts';

/** The name of a stream: integers in [0, 2³²); default: 0. */
export interface RandomStream {
  readonly seed: number;
  readonly rank?: number;
  readonly bucket?: number;
  readonly iteration?: number;
  /** Separates draws for different purposes with the same position. */
  readonly purpose?: number;
}

const word = z.int().min(0).max(0xffffffff);

const nameSchema = z.strictObject({
  seed: word,
  rank: word.optional(),
  bucket: word.optional(),
  iteration: word.optional(),
  purpose: word.optional(),
} satisfies Record<keyof RandomStream, z.ZodType>);

/** Checks a name as the schema does, in nanoseconds: a stream may be opened in every exchange. */
function isName(name: RandomStream): boolean {
  if (typeof name !== 'object' || name === null) return false;
  for (const key in name) {
    if (!Object.hasOwn(nameSchema.shape, key)) return false;
    const value = name[key as keyof RandomStream];
    const isMissing = value === undefined && key !== 'seed';
    if (!isMissing && value !== value! >>> 0) return false;
  }
  return 'seed' in name;
}

export class CounterRandom {
  readonly #key: readonly [number, number];
  readonly #counter: Uint32Array;
  /** The four words of block `#counter[0]`. */
  readonly #words = new Uint32Array(4);
  #drawn = false;

  /** @throws GradwireError `OPTION_INVALID` */
  constructor(name: RandomStream) {
    if (!isName(name)) checkedOptions(nameSchema, name, 'CounterRandom');
    this.#key = [name.seed, name.rank ?? 0];
    this.#counter = Uint32Array.of(
      0,
      name.bucket ?? 0,
      name.iteration ?? 0,
      name.purpose ?? 0,
    );
  }

  /** 32 random bits. index: an integer in [0, 2³⁴). Cheapest in ascending order. */
  bits(index: number): number {
    const block = Math.floor(index / 4);
    if (!this.#drawn || this.#counter[0] !== block) {
      this.#counter[0] = block;
      philox(this.#counter, this.#key, this.#words);
      this.#drawn = true;
    }
    return this.#words[index & 3]!;
  }

  /** Uniform in [0, 1), a multiple of 2⁻²⁴, so exact in f32. */
  uniform(index: number): number {
    return (this.bits(index) >>> 8) * 2 ** -24;
  }
}

/**
 * Philox 4×32 of 10 rounds: the four words of `out` from a counter of four words and a
 * key of two. All arithmetic is in 32-bit integers, which V8 keeps in registers.
 */
export function philox(
  counter: Uint32Array,
  key: readonly [number, number],
  out: Uint32Array,
): void {
  let c0 = counter[0]! | 0;
  let c1 = counter[1]! | 0;
  let c2 = counter[2]! | 0;
  let c3 = counter[3]! | 0;
  let k0 = key[0] | 0;
  let k1 = key[1] | 0;
  for (let round = 0; round < 10; round++) {
    const high0 = multiplyHigh(0xd251, 0x1f53, c0);
    const low0 = Math.imul(0xd2511f53, c0);
    const high1 = multiplyHigh(0xcd9e, 0x8d57, c2);
    const low1 = Math.imul(0xcd9e8d57, c2);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 = (k0 + 0x9e3779b9) | 0;
    k1 = (k1 + 0xbb67ae85) | 0;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/** The upper 32 bits of the unsigned product of `high`·2¹⁶ + `low` and `b`. */
function multiplyHigh(high: number, low: number, b: number): number {
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  const lows = Math.imul(low, bLow);
  const cross = Math.imul(high, bLow);
  const crossed = Math.imul(low, bHigh);
  const middle = (lows >>> 16) + (cross & 0xffff) + (crossed & 0xffff);
  const carried = (cross >>> 16) + (crossed >>> 16) + (middle >>> 16);
  return (Math.imul(high, bHigh) + carried) | 0;
}
