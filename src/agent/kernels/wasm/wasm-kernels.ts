/**
 * The CPU kernels: SIMD WebAssembly on the arena's own memory, without copies, bound by
 * memory bandwidth; on one thread or several, with the same bits. Sources in `assembly/`.
 * Vectors below `SHARED_LENGTH`, and kernels that go through lists of indices or depend
 * on order (merging, Elias codes, products), stay on the calling thread.
 *
 * Two means, selection, drawn indices and quantisation need scratch. It is allocated in
 * the arena at first use and again when more is needed, so only the thread that owns the
 * arena may use these; other threads may use elementwise kernels and reductions to a
 * number.
 */
import type { Arena } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { halfPrecisionSums } from '../half-precision.ts';
import type { Kernels, Moments, TwoMeans } from '../kernels.ts';
import type { Matrix } from '../low-rank.ts';
import {
  requireSameLength,
  requireTransposed,
  streamIndexError,
} from '../preconditions.ts';
import { SLICE } from './job-board.ts';
import {
  instantiate,
  type At,
  type Elements,
  type KernelExports,
  type Of,
  type Stream,
} from './kernel-exports.ts';
import { KernelPool } from './kernel-pool.ts';
import { Scratch } from './scratch.ts';
import { WasmHalfPrecision } from './wasm-half-precision.ts';
import { WasmLowRank } from './wasm-low-rank.ts';
import { WasmMicroscaling } from './wasm-microscaling.ts';
import { WasmOptimization } from './wasm-optimization.ts';
import { WasmQuantization } from './wasm-quantization.ts';
import { reductionSteps, WasmReduction } from './wasm-reduction.ts';
import { WasmSparsification } from './wasm-sparsification.ts';

const FIRST = 0 as Of<'first'>;

type X = Elements<'x'>;
type Out = Elements<'out'>;

/** @param bytes the module `kernels.wasm`; `load.ts` finds it */
export function wasmKernels(arena: Arena, bytes: Uint8Array): Kernels {
  const exports = instantiate(new WebAssembly.Module(bytes), arena.memory);
  return new WasmKernels(arena, new KernelPool(arena, exports));
}

export class WasmKernels implements Kernels {
  readonly #arena: Arena;
  readonly #pool: KernelPool;
  readonly #run: KernelExports;
  readonly #signSums: Scratch;
  readonly halfPrecision: WasmHalfPrecision;
  readonly microscaling: WasmMicroscaling;
  readonly sparsification: WasmSparsification;
  readonly lowRank: WasmLowRank;
  readonly optimization: WasmOptimization;
  readonly quantization: WasmQuantization;
  readonly reduction: WasmReduction;
  readonly reduction64: WasmReduction;
  readonly halfSums: Kernels['halfSums'];

  constructor(arena: Arena, pool: KernelPool) {
    this.#arena = arena;
    this.#pool = pool;
    this.#run = pool.exports;
    this.#signSums = new Scratch(arena);
    this.halfPrecision = new WasmHalfPrecision(pool);
    this.microscaling = new WasmMicroscaling(pool);
    this.halfSums = halfPrecisionSums(arena, this.halfPrecision);
    this.sparsification = new WasmSparsification(arena, pool);
    this.lowRank = new WasmLowRank(pool.exports);
    this.optimization = new WasmOptimization(pool);
    this.quantization = new WasmQuantization(arena, pool);
    this.reduction = new WasmReduction(arena, pool, reductionSteps(pool, 'f32'));
    this.reduction64 = new WasmReduction(arena, pool, reductionSteps(pool, 'f64'));
  }

  fill({ offset, length }: Out, value: number): void {
    this.#pool.over(length).fill(offset, length, value);
  }

  copy(out: Out, x: X): void {
    requireSameLength(out, x);
    this.#pool.over(x.length).copy(out.offset, x.offset, x.length);
  }

  add(out: Out, x: X): void {
    requireSameLength(out, x);
    this.#pool.over(x.length).add(out.offset, x.offset, x.length);
  }

  scale({ offset, length }: Out, factor: number): void {
    this.#pool.over(length).scale(offset, length, factor);
  }

  blend(out: Out, outFactor: number, x: X, xFactor: number): void {
    requireSameLength(out, x);
    const run = this.#pool.over(x.length);
    run.blend(out.offset, outFactor, x.offset, xFactor, x.length);
  }

  transpose(matrix: Matrix & At<'matrix'>, out: Out, add: boolean): void {
    requireTransposed(matrix, out);
    const { offset, rows, columns } = matrix;
    const run = this.#pool.over(out.length);
    const { length } = out;
    run.transpose(out.offset, length, offset, rows, columns, FIRST, Number(add));
  }

  moments({ offset, length }: X): Moments {
    if (length === 0) return { mean: 0, variance: 0 };
    const run = this.#pool.over(length);
    const mean = run.centralSum(offset, length, 0, 0) / length;
    return { mean, variance: run.centralSum(offset, length, mean, 1) / length };
  }

  squaredNorm({ offset, length }: X): number {
    return this.#pool.over(length).squaredNorm(offset, length);
  }

  squaredDistance(x: X, y: X): number {
    requireSameLength(x, y);
    return this.#pool.over(x.length).squaredDistance(x.offset, y.offset, x.length);
  }

  addFinite(out: Out, x: X): number {
    requireSameLength(out, x);
    const run = this.#pool.over(x.length);
    const index = run.addFinite(out.offset, x.offset, x.length);
    return index === x.length ? -1 : index;
  }

  copyFinite(out: Out, x: X): number {
    requireSameLength(out, x);
    const run = this.#pool.over(x.length);
    const index = run.copyFinite(out.offset, x.offset, x.length);
    return index === x.length ? -1 : index;
  }

  firstNonFinite({ offset, length }: X): number {
    const index = this.#pool.over(length).firstNonFinite(offset, length);
    return index === length ? -1 : index;
  }

  clearAt(x: Out, stream: Stream): void {
    const done = this.#run.clearAt(x.offset, x.length, stream.offset, stream.count);
    if (done < stream.count) throw this.#outside(stream, done, x.length);
  }

  scatterAdd(out: Out, stream: Stream, factor: number): void {
    const { offset, count } = stream;
    const done = this.#run.scatterAdd(out.offset, out.length, offset, count, factor);
    if (done < count) throw this.#outside(stream, done, out.length);
  }

  twoMeans({ offset, length }: X): TwoMeans {
    const run = this.#run;
    if (length >= this.#pool.sharedFrom) return this.#sharedMeans(offset, length);
    run.twoMeans(offset, length);
    return { plus: run.plusMean(), minus: run.minusMean() };
  }

  shiftBySign({ offset, length }: Out, plus: number, minus: number): void {
    this.#pool.over(length).shiftBySign(offset, length, plus, minus);
  }

  #sharedMeans(x: Of<'x'>, n: Of<'n'>): TwoMeans {
    const sums = this.#signSums.f64(3 * Math.ceil(n / SLICE));
    this.#pool.sliced.storeSignSums(x, n, sums.byteOffset as Of<'sums'>);
    let plus = 0;
    let minus = 0;
    let count = 0;
    for (let at = 0; at < 3 * Math.ceil(n / SLICE); at += 3) {
      plus += sums[at]!;
      minus += sums[at + 1]!;
      count += sums[at + 2]!;
    }
    return {
      plus: count === 0 ? 0 : plus / count,
      minus: count === n ? 0 : minus / (n - count),
    };
  }

  #outside(stream: SparseStream, position: number, length: number): Error {
    const indices = this.#arena.u32(stream.offset, stream.count);
    return streamIndexError(indices[position]!, length);
  }
}
