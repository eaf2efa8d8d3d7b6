/**
 * Gaussian-k: about k entries without an exact selection. Were p normal with its mean μ
 * and deviation σ, |p| would reach τ = |μ| + σ·z in about a share `ratio` of the entries,
 * z the normal quantile of 1 − ratio/2. Real gradients have heavier tails (ten times as
 * many entries reach τ on Student's t₃ at 0.1 %), so τ is corrected until the count is in
 * [3k/4, 5k/4]: by bisection, on candidates that one pass has collected, if those that
 * reach the first τ are at least 3k/4 and at most 16·k; else τ is first moved there.
 *
 * Cost: the sum, two passes for μ and σ (in fixed point, so that all backends estimate
 * alike), one or a few to collect. Where no threshold has a count in the band (ties),
 * exactly k are selected. Zeros are never sent: where fewer than 3k/4 entries are not 0,
 * all of these are.
 *
 * Source: "Understanding top-k sparsification in distributed deep learning" (Shi et al.,
 * 2019), algorithm 1; the correction is ours.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { SparseStream } from '../memory/entries.ts';
import { closeStream, roomBytes, type StreamRoom } from '../kernels/sparsification.ts';
import { estimated, sparseSum } from './expected-messages.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import {
  entriesSent,
  largestRatio,
  rampParameters,
  ratioAt,
  ratioParameters,
} from './policy/ratio-schedule.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';
import {
  estimateThreshold,
  mostCandidates,
  mostSelected,
  searchThreshold,
  type SearchResult,
} from './threshold-search.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const gaussiank: MethodDefinition<typeof parameters> = {
  id: 'gaussiank',
  title: 'Gaussian-k',
  summary: 'About k entries, above a threshold estimated from mean and deviation.',
  source: 'Shi et al., 2019, algorithm 1',
  parameters,
  payload: 'sparse',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  // The search ends at 3k/4 to 5k/4 entries, or at k.
  messages: ({ ratio }, { length }) => [
    estimated(sparseSum(length, entriesSent(length, { ratio }))),
  ],
  create: (context) => {
    const selection = new GaussianSelection(context);
    return withWarmUp(new SparseFeedback(gaussiank.id, context, selection), context);
  },
};

export class GaussianSelection implements Selection, Disposable {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters>;
  readonly #candidates: Region;

  constructor(context: CompressorContext<Parameters>) {
    const { arena, length, parameters } = context;
    const k = entriesSent(length, { ratio: largestRatio(parameters) });
    this.#context = context;
    // One more than the band allows tells that there are too many.
    this.capacity = mostSelected(k) + 1;
    this.#candidates = arena.allocate(roomBytes(mostCandidates(length, k) + 1));
  }

  select(p: Vector, iteration: number, out: Region): SparseStream {
    const { arena, kernels, parameters } = this.#context;
    const { length } = p;
    const ratio = ratioAt(parameters, iteration);
    const k = entriesSent(length, { ratio });
    const estimate = estimateThreshold(kernels.quantization.fixedSums(p), ratio);
    const search = searchThreshold(length, k, estimate);
    const all: StreamRoom = {
      offset: this.#candidates.offset,
      capacity: mostCandidates(length, k) + 1,
    };
    const room: StreamRoom = { offset: out.offset, capacity: mostSelected(k) + 1 };
    let candidates: SparseStream | undefined;
    let count = 0;
    let step = search.next();
    while (step.done !== true) {
      const { threshold, among } = step.value;
      if (among === 'all') {
        count = this.#collect(p, threshold, all);
      } else {
        candidates ??= closeStream(arena, all, count);
        count = this.#collect(valuesOf(candidates), threshold, room);
      }
      step = search.next(count);
    }
    const result = step.value;
    if (result.kind === 'largest' || candidates === undefined) {
      return kernels.selectTopK(p, k, out);
    }
    const selected =
      result.kind === 'reaching'
        ? closeStream(arena, room, count)
        : this.#withTies(valuesOf(candidates), k, result, out);
    return this.#named(candidates, selected);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#candidates);
  }

  /** The entries that reach a threshold, to a room that tells when there are too many. */
  #collect(x: Vector, threshold: number, room: StreamRoom): number {
    const { sparsification } = this.#context.kernels;
    return sparsification.appendAtLeast(x, threshold, 0, room, 0, room.capacity);
  }

  /** All that reach `high`, and of those that reach only `low` the first: k in all. */
  #withTies(
    values: Vector,
    k: number,
    { low, high, certain }: Extract<SearchResult, { readonly kind: 'ties' }>,
    out: Region,
  ): SparseStream {
    const { arena } = this.#context;
    const all = arena.f32(values);
    const positions = arena.u32(out.offset, k);
    const kept = arena.f32({ offset: out.offset + 4 * k, length: k });
    let ties = k - certain;
    let count = 0;
    for (let i = 0; i < all.length && count < k; i++) {
      const magnitude = Math.abs(all[i]!);
      if (magnitude < low || (magnitude < high && ties-- <= 0)) continue;
      positions[count] = i;
      kept[count++] = all[i]!;
    }
    return { offset: out.offset, count };
  }

  /** Positions among the candidates become the indices that these have in p. */
  #named(candidates: SparseStream, selected: SparseStream): SparseStream {
    const { arena } = this.#context;
    const names = arena.u32(candidates.offset, candidates.count);
    const positions = arena.u32(selected.offset, selected.count);
    for (let i = 0; i < positions.length; i++) {
      positions[i] = names[positions[i]!]!;
    }
    return selected;
  }
}

function valuesOf({ offset, count }: SparseStream): Vector {
  return { offset: offset + 4 * count, length: count };
}
