/**
 * The CPU kernels on several threads: the same calls, the same bits as on one thread.
 * Vectors below `SHARED_LENGTH`, and kernels that go through lists of indices or have
 * an order of their own (merging, Elias codes, products), stay on the calling thread.
 */
import { overlap, type Arena, type Region, type Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import type { Kernels, Moments, TwoMeans } from '../kernels.ts';
import type { LowRankKernels } from '../low-rank.ts';
import { requireSameLength, requireStreamCapacity } from '../preconditions.ts';
import type { ReductionKernels } from '../reduction.ts';
import { SLICE } from './job-board.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { Scratch } from './scratch.ts';
import { ThreadedQuantization } from './threaded-quantization.ts';
import { ThreadedReduction } from './threaded-reduction.ts';
import { ThreadedSelection } from './threaded-selection.ts';

/** Two sums and a count, in f64. */
const SIGN_SUMS = 3;

export class ThreadedKernels implements Kernels {
  readonly #arena: Arena;
  readonly #threads: KernelThreads;
  readonly #alone: Kernels;
  readonly #signSums: Scratch;
  readonly sparsification: ThreadedSelection;
  readonly lowRank: LowRankKernels;
  readonly quantization: ThreadedQuantization;
  readonly reduction: ThreadedReduction;
  readonly reduction64: ReductionKernels;

  /** @param alone the kernels of the calling thread, on the same arena */
  constructor(arena: Arena, threads: KernelThreads, alone: Kernels) {
    this.#arena = arena;
    this.#threads = threads;
    this.#alone = alone;
    this.#signSums = new Scratch(arena);
    this.sparsification = new ThreadedSelection(arena, threads, alone.sparsification);
    this.lowRank = alone.lowRank;
    this.quantization = new ThreadedQuantization(arena, threads, alone.quantization);
    this.reduction = new ThreadedReduction(threads, alone.reduction, this);
    this.reduction64 = alone.reduction64;
  }

  fill(out: Vector, value: number): void {
    const threads = this.#threads;
    if (!threads.takes(out.length)) {
      this.#alone.fill(out, value);
      return;
    }
    threads.job('fill', out.length).elements(out).length().fixed(value);
    threads.run();
  }

  copy(out: Vector, x: Vector): void {
    const threads = this.#threads;
    // Of vectors that lie across each other, slices are not each other's business alone.
    if (!threads.takes(x.length) || overlap(out, x)) {
      this.#alone.copy(out, x);
      return;
    }
    requireSameLength(out, x);
    threads.job('copy', x.length).elements(out).elements(x).length();
    threads.run();
  }

  add(out: Vector, x: Vector): void {
    const threads = this.#threads;
    if (!threads.takes(x.length) || overlap(out, x)) {
      this.#alone.add(out, x);
      return;
    }
    requireSameLength(out, x);
    threads.job('add', x.length).elements(out).elements(x).length();
    threads.run();
  }

  addFinite(out: Vector, x: Vector): number {
    const threads = this.#threads;
    if (!threads.takes(x.length) || overlap(out, x))
      return this.#alone.addFinite(out, x);
    requireSameLength(out, x);
    threads.job('addFinite', x.length).elements(out).elements(x).length();
    return this.#firstFound(threads.run(), x.length);
  }

  scale(x: Vector, factor: number): void {
    const threads = this.#threads;
    if (!threads.takes(x.length)) {
      this.#alone.scale(x, factor);
      return;
    }
    threads.job('scale', x.length).elements(x).length().fixed(factor);
    threads.run();
  }

  blend(out: Vector, outFactor: number, x: Vector, xFactor: number): void {
    const threads = this.#threads;
    if (!threads.takes(x.length) || overlap(out, x)) {
      this.#alone.blend(out, outFactor, x, xFactor);
      return;
    }
    requireSameLength(out, x);
    threads
      .job('blend', x.length)
      .elements(out)
      .fixed(outFactor)
      .elements(x)
      .fixed(xFactor)
      .length();
    threads.run();
  }

  squaredNorm(x: Vector): number {
    const threads = this.#threads;
    if (!threads.takes(x.length)) return this.#alone.squaredNorm(x);
    threads.job('squaredNorm', x.length).elements(x).length();
    return this.#sum(threads.run());
  }

  squaredDistance(x: Vector, y: Vector): number {
    const threads = this.#threads;
    if (!threads.takes(x.length)) return this.#alone.squaredDistance(x, y);
    requireSameLength(x, y);
    threads.job('squaredDistance', x.length).elements(x).elements(y).length();
    return this.#sum(threads.run());
  }

  moments(x: Vector): Moments {
    if (!this.#threads.takes(x.length)) return this.#alone.moments(x);
    const mean = this.#centralSum(x, 0, false) / x.length;
    return { mean, variance: this.#centralSum(x, mean, true) / x.length };
  }

  firstNonFinite(x: Vector): number {
    const threads = this.#threads;
    if (!threads.takes(x.length)) return this.#alone.firstNonFinite(x);
    threads.job('firstNonFinite', x.length).elements(x).length();
    return this.#firstFound(threads.run(), x.length);
  }

  selectTopK(x: Vector, k: number, out: Region): SparseStream {
    if (k >= x.length || k < 1 || !this.#threads.takes(x.length)) {
      return this.#alone.selectTopK(x, k, out);
    }
    requireStreamCapacity(out, k);
    return this.sparsification.selectTopK(x, k, out);
  }

  clearAt(x: Vector, stream: SparseStream): void {
    this.#alone.clearAt(x, stream);
  }

  scatterAdd(out: Vector, stream: SparseStream, factor: number): void {
    this.#alone.scatterAdd(out, stream, factor);
  }

  twoMeans(x: Vector): TwoMeans {
    const threads = this.#threads;
    const n = x.length;
    if (!threads.takes(n)) return this.#alone.twoMeans(x);
    const bytes = 8 * SIGN_SUMS;
    const offset = this.#signSums.reserve(bytes * Math.ceil(n / SLICE));
    threads.job('storeSignSums', n).elements(x).length().step(offset, bytes);
    const slices = threads.run();
    const sums = new Float64Array(this.#arena.buffer, offset, SIGN_SUMS * slices);
    let plus = 0;
    let minus = 0;
    let count = 0;
    for (let at = 0; at < sums.length; at += SIGN_SUMS) {
      plus += sums[at]!;
      minus += sums[at + 1]!;
      count += sums[at + 2]!;
    }
    return {
      plus: count === 0 ? 0 : plus / count,
      minus: count === n ? 0 : minus / (n - count),
    };
  }

  shiftBySign(x: Vector, plus: number, minus: number): void {
    const threads = this.#threads;
    if (!threads.takes(x.length)) {
      this.#alone.shiftBySign(x, plus, minus);
      return;
    }
    threads.job('shiftBySign', x.length).elements(x).length().fixed(plus).fixed(minus);
    threads.run();
  }

  #centralSum(x: Vector, center: number, squared: boolean): number {
    const threads = this.#threads;
    threads
      .job('centralSum', x.length)
      .elements(x)
      .length()
      .fixed(center)
      .fixed(Number(squared));
    return this.#sum(threads.run());
  }

  /** Each slice of n elements tells its first; its own length, where there is none. */
  #firstFound(slices: number, n: number): number {
    for (let slice = 0; slice < slices; slice++) {
      const index = slice * SLICE + this.#threads.results[slice]!;
      if (index < Math.min((slice + 1) * SLICE, n)) return index;
    }
    return -1;
  }

  /** Of what slices returned, in order: as one thread adds up its blocks. */
  #sum(slices: number): number {
    const { results } = this.#threads;
    let sum = 0;
    for (let slice = 0; slice < slices; slice++) sum += results[slice]!;
    return sum;
  }
}
