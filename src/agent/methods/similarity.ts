/**
 * The similarity of the ranks, on which a selection by one rank for all depends. With p of
 * a rank, its residual m, the average y of all p, the k indices I that one rank chose and
 * the k largest T of y:
 *
 *     residual distance   mean over pairs of ranks of 1 − cos(mᵢ, mⱼ)
 *     Hamming distance    1 − |I ∩ T|/k, 0 where they agree (the paper saw 0.6–0.8)
 *     rank correlation    Spearman's of this rank's |p| and |y|
 *     magnitude share     Σ|y| at I / Σ|y| at T: what the chosen entries hold of the largest
 *     contraction         ‖y − y at I‖²/‖y‖²: what is not sent of what should be
 *     contraction bound   h + (1 − h)·γ, with h the Hamming distance and γ the contraction by T: lemma 1
 *                         expects no more, if I could share any entries with T
 *
 * Cost: two dense reductions of the bucket and a selection, each time that it is computed.
 * The rank correlation is that of a strided sample of at most 65,536 elements.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), sections 3 and 4, lemma 1, appendix A.
 */
import type { Region, Vector } from '../memory/arena.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { IndexList } from '../kernels/sparsification.ts';
import { wait, waitForAll, type Steps } from '../work/steps.ts';
import type { Mirror } from '../work/work.ts';
import { denseSum } from './expected-messages.ts';
import type {
  Communicate,
  CompressorContext,
  ExpectedMessage,
  Similarity,
} from './method.ts';
import { rankCorrelation } from './rank-correlation.ts';

const SAMPLES = 65_536;

type ProbeContext<V> = Pick<CompressorContext<unknown, V>, 'length' | 'work'>;

/** The messages of `observe` for vectors of `length` elements. */
export const similarityMessages = (length: number): readonly ExpectedMessage[] => [
  denseSum(length + 1),
  denseSum(length),
];

export class SimilarityProbe<V> {
  readonly #context: ProbeContext<V>;
  /**
   * The residual on the host. On a GPU reading back is expensive compared with a payload, so it is
   * done only in iterations that measure.
   */
  readonly #residual: Mirror<V>;
  readonly #p: Mirror<V>;
  /** A vector of the bucket's length, followed by a count. */
  readonly #scratch: Region;
  readonly #largest: Region;
  /** The largest entries of y that the last `observe` found. */
  #found: SparseStream | undefined;

  /** Allocates memory for at most `capacity` indices. */
  constructor(context: ProbeContext<V>, capacity: number) {
    const { length, work } = context;
    this.#context = context;
    this.#residual = work.mirror(length);
    this.#p = work.mirror(length);
    this.#scratch = work.region(4 * (length + 1));
    this.#largest = work.region(sparseBytes(capacity));
  }

  /** Measures how alike the ranks are; all call it at once. Does not change `residual` and `p`. */
  *observe(
    residual: V,
    p: V,
    chosen: IndexList,
    communicate: Communicate,
  ): Steps<Similarity> {
    const [kept, sum] = yield* waitForAll([this.#residual.of(residual), this.#p.of(p)]);
    this.#normalize(kept!);
    const directions = yield* this.#sum(sum!.length + 1, communicate);
    const residualDistance = this.#spread(directions);
    this.#context.work.kernels.copy({ ...sum!, offset: this.#scratch.offset }, sum!);
    const y = yield* this.#sum(sum!.length, communicate);
    return {
      ...(residualDistance === undefined ? {} : { residualDistance }),
      ...this.#compare(sum!, y, chosen),
    };
  }

  /** The norm of the sum over ranks of x; all call it at once. */
  *normOfSum(x: V, communicate: Communicate): Steps<number> {
    const { kernels } = this.#context.work;
    const values = yield* wait(this.#p.of(x));
    kernels.copy({ ...values, offset: this.#scratch.offset }, values);
    return Math.sqrt(kernels.squaredNorm(yield* this.#sum(values.length, communicate)));
  }

  /**
   * The distance of an average of what ranks chose from the largest entries of y/world, y being what the
   * last `observe` summed; undefined if it found none.
   */
  *distanceFromLargest(average: V, world: number): Steps<number | undefined> {
    const found = this.#found;
    if (found === undefined) return undefined;
    const { arena, kernels } = this.#context.work;
    const sent = yield* wait(this.#p.of(average));
    const values = arena.f32(sent);
    const indices = arena.u32(found.offset, found.count);
    const largest = arena.f32({
      offset: found.offset + 4 * found.count,
      length: found.count,
    });
    let square = kernels.squaredNorm(sent);
    for (const [at, index] of indices.entries()) {
      const value = values[index]!;
      const difference = value - largest[at]! / world;
      square += difference * difference - value * value;
    }
    return Math.sqrt(Math.max(0, square));
  }

  /** m/‖m‖ followed by a 1, or zeros if there is no direction. */
  #normalize(residual: Vector): void {
    const { arena, kernels } = this.#context.work;
    const { length } = residual;
    const unit = { offset: this.#scratch.offset, length };
    const norm = Math.sqrt(kernels.squaredNorm(residual));
    kernels.copy(unit, residual);
    // For a very small or large norm 1/‖m‖ is not an f32, or has few bits; so two steps.
    const step = norm < 2 ** -100 ? 2 ** 100 : norm > 2 ** 100 ? 2 ** -64 : 1;
    if (step !== 1) kernels.scale(unit, step);
    if (norm > 0) kernels.scale(unit, 1 / (norm * step));
    arena.f32({ ...unit, length: length + 1 })[length] = norm > 0 ? 1 : 0;
  }

  /** ‖Σ u‖² is the sum over all pairs of their cosines, each rank's with itself included. */
  #spread(sum: Vector): number | undefined {
    const { arena, kernels } = this.#context.work;
    const length = sum.length - 1;
    const count = arena.f32(sum)[length]!;
    if (count < 2) return undefined;
    const cosines = kernels.squaredNorm({ ...sum, length }) - count;
    return 1 - cosines / (count * (count - 1));
  }

  #compare(p: Vector, y: Vector, { offset, count }: IndexList): Partial<Similarity> {
    const { arena, kernels } = this.#context.work;
    this.#found = undefined;
    const total = kernels.squaredNorm(y);
    if (total === 0 || count === 0) return {};
    const values = arena.f32(y);
    const chosen = arena.u32(offset, count);
    const sent = squaresAt(values, chosen);
    const largest = kernels.sparsification.selectTopK(y, count, this.#largest);
    this.#found = largest;
    const indices = arena.u32(largest.offset, largest.count);
    const shared = overlapOf(chosen, indices) / count;
    const correlation = rankCorrelation(sample(arena.f32(p)), sample(values));
    return {
      hammingDistance: 1 - shared,
      magnitudeShare: magnitudeAt(values, chosen) / magnitudeAt(values, indices),
      contraction: Math.max(0, 1 - sent / total),
      contractionBound: Math.max(0, 1 - (shared * squaresAt(values, indices)) / total),
      ...(correlation === undefined ? {} : { rankCorrelation: correlation }),
    };
  }

  /** The sum over ranks of the start of the scratch. */
  *#sum(length: number, communicate: Communicate): Steps<Vector> {
    const data = { offset: this.#scratch.offset, bytes: 4 * length };
    const payload = { kind: 'dense', length, data } as const;
    const combined = yield* wait(communicate({ operation: 'reduce', payload }));
    if (combined.form !== 'dense') throw new Error('internal: a dense sum is dense');
    return { offset: combined.data.offset, length };
  }
}

/** The number of indices that two ascending lists share. */
function overlapOf(a: Uint32Array, b: Uint32Array): number {
  let common = 0;
  let j = 0;
  for (const index of a) {
    while (j < b.length && b[j]! < index) j++;
    if (b[j] === index) common++;
  }
  return common;
}

function magnitudeAt(values: Float32Array, indices: Uint32Array): number {
  let sum = 0;
  for (const index of indices) sum += Math.abs(values[index]!);
  return sum;
}

function squaresAt(values: Float32Array, indices: Uint32Array): number {
  let sum = 0;
  for (const index of indices) sum += values[index]! * values[index]!;
  return sum;
}

/** A strided sample of the vector's magnitudes. */
function sample(values: Float32Array): Float32Array {
  const count = Math.min(values.length, SAMPLES);
  return Float32Array.from({ length: count }, (_, i) =>
    Math.abs(values[Math.floor((i * values.length) / count)]!),
  );
}
