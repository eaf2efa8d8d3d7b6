/**
 * Gaussian-k: about k entries without an exact selection. Were p normal with its mean μ
 * and deviation σ, |p| would reach τ = |μ| + σ·z in about a share `ratio` of the entries,
 * z the normal quantile of 1 − ratio/2. Real gradients have heavier tails (ten times as
 * many entries reach τ on Student's t₃ at 0.1 %), so τ is corrected until the count is in
 * [3k/4, 5k/4]: by bisection, on candidates that one pass has collected, if those that
 * reach the first τ are at least 3k/4 and at most 16·k; else τ is first moved there.
 *
 * Cost: the sum, two passes for μ and σ, one or a few to collect. Where no threshold has
 * a count in the band (ties), exactly k are selected.
 *
 * Source: "Understanding top-k sparsification in distributed deep learning" (Shi et al.,
 * 2019), algorithm 1; the correction is ours.
 */
import { z } from 'zod';
import type { Region, Vector } from '../kernels/arena.ts';
import type { SparseStream } from '../kernels/kernels.ts';
import { closeStream, roomBytes, type StreamRoom } from '../kernels/sparsification.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import { normalQuantile } from './normal-quantile.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  ratioParameters,
} from './policy/ratio-schedule.ts';
import { warmUpParameters, withWarmUp } from './policy/warm-up.ts';
import { SparseFeedback, type Selection } from './sparse-feedback.ts';

const parameters = z.strictObject({ ...ratioParameters, ...warmUpParameters });
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
  create: (context) => {
    const selection = new GaussianSelection(context);
    return withWarmUp(new SparseFeedback(gaussiank.id, context, selection), context);
  },
};

/** Candidates for each entry wanted: room for the error of the first threshold. */
const CANDIDATES = 16;
/** Passes over p to find candidates, and over candidates to find the threshold. */
const MOST_PASSES = 12;
const MOST_BISECTIONS = 40;

export class GaussianSelection implements Selection, Disposable {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters>;
  readonly #candidates: Region;

  constructor(context: CompressorContext<Parameters>) {
    const { arena, length, parameters } = context;
    const k = entriesSent(length, { ratio: largestRatio(parameters) });
    this.#context = context;
    // One more than the band allows tells that there are too many.
    this.capacity = mostOf(k) + 1;
    this.#candidates = arena.allocate(roomBytes(candidatesOf(length, k) + 1));
  }

  select(p: Vector, iteration: number, out: Region): SparseStream {
    const { kernels, parameters } = this.#context;
    const ratio = ratioAt(parameters, iteration);
    const k = entriesSent(p.length, { ratio });
    const found = this.#collect(p, k, this.#estimate(p, ratio));
    if (found === undefined) return kernels.selectTopK(p, k, out);
    const { candidates, threshold } = found;
    const values = {
      offset: candidates.offset + 4 * candidates.count,
      length: candidates.count,
    };
    const selected = this.#bisect(values, k, threshold, out);
    return this.#named(candidates, selected);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#candidates);
  }

  /** τ of the normal assumption, to 12 bits, so that no backend's rounding shows. */
  #estimate(p: Vector, ratio: number): number {
    const { mean, variance } = this.#context.kernels.moments(p);
    const τ = Math.abs(mean) + normalQuantile(ratio / 2) * Math.sqrt(variance);
    if (τ === 0 || !Number.isFinite(τ)) return 0;
    const unit = 2 ** (Math.floor(Math.log2(τ)) - 11);
    return Math.round(τ / unit) * unit;
  }

  /**
   * The entries of p that reach a threshold, of which there are at least 3k/4 and not too
   * many to look at again and again. Steps grow until the threshold has been passed, then
   * it is cornered.
   */
  #collect(
    p: Vector,
    k: number,
    estimate: number,
  ): { readonly candidates: SparseStream; readonly threshold: number } | undefined {
    const { arena, kernels } = this.#context;
    const most = candidatesOf(p.length, k);
    const room: StreamRoom = { offset: this.#candidates.offset, capacity: most + 1 };
    let threshold = estimate;
    let tooLow = 0;
    let tooHigh = Infinity;
    let step = 2;
    for (let pass = 0; pass < MOST_PASSES && threshold > 0; pass++) {
      const count = kernels.sparsification.appendAtLeast(
        p,
        threshold,
        0,
        room,
        0,
        most + 1,
      );
      if (count > most) tooLow = threshold;
      else if (count < leastOf(k)) tooHigh = threshold;
      else return { candidates: closeStream(arena, room, count), threshold };
      if (tooHigh === Infinity) threshold *= step;
      else if (tooLow === 0) threshold /= step;
      else threshold = Math.sqrt(tooLow) * Math.sqrt(tooHigh);
      step *= step;
    }
    return undefined;
  }

  /** Of candidates that all reach `threshold`: those of a threshold in the band, or k. */
  #bisect(values: Vector, k: number, threshold: number, out: Region): SparseStream {
    const { arena, kernels } = this.#context;
    const most = mostOf(k);
    const room: StreamRoom = { offset: out.offset, capacity: most + 1 };
    let low = threshold;
    let high = Infinity;
    let middle = low;
    for (let i = 0; i < MOST_BISECTIONS; i++) {
      const count = kernels.sparsification.appendAtLeast(
        values,
        middle,
        0,
        room,
        0,
        most + 1,
      );
      if (count > most) low = middle;
      else if (count < leastOf(k)) high = middle;
      else return closeStream(arena, room, count);
      middle = high === Infinity ? 2 * low : low + (high - low) / 2;
    }
    return this.#withTies(values, k, Math.fround(low), Math.fround(high), out);
  }

  /**
   * Exactly k where neighbouring thresholds have too many entries and too few: all that
   * reach `high`, and of those that reach only `low` the first.
   */
  #withTies(
    values: Vector,
    k: number,
    low: number,
    high: number,
    out: Region,
  ): SparseStream {
    const { arena } = this.#context;
    const all = arena.f32(values);
    const positions = arena.u32(out.offset, k);
    const kept = arena.f32({ offset: out.offset + 4 * k, length: k });
    let ties = k;
    for (const value of all) if (Math.abs(value) >= high) ties--;
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

const leastOf = (k: number): number => Math.ceil((3 * k) / 4);
const mostOf = (k: number): number => Math.floor((5 * k) / 4);
const candidatesOf = (n: number, k: number): number => Math.min(n, CANDIDATES * k);
