/**
 * The CPU kernels: SIMD WebAssembly on the arena's own memory, nothing copied, bound by
 * memory bandwidth. One thread; `threaded-kernels.ts` has more of them. Sources in
 * `assembly/`.
 *
 * Selection, drawn indices, quantisation of levels and Elias codes need scratch. It is
 * allocated in the arena at first use and again for a larger one, so only the thread that
 * owns the arena may use these; others may use what is elementwise or gives a number.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import type { Kernels, Moments, TwoMeans } from '../kernels.ts';
import {
  requireSameLength,
  requireStreamCapacity,
  streamIndexError,
} from '../preconditions.ts';
import { instantiate, type KernelExports } from './kernel-exports.ts';
import { samplePlan } from './sample-plan.ts';
import { Scratch } from './scratch.ts';
import { WasmLowRank } from './wasm-low-rank.ts';
import { WasmQuantization } from './wasm-quantization.ts';
import { reductionSteps, WasmReduction } from './wasm-reduction.ts';
import { HISTOGRAM_BYTES, WasmSparsification } from './wasm-sparsification.ts';

/** @param bytes the module `kernels.wasm`; `load.ts` finds it */
export function wasmKernels(arena: Arena, bytes: Uint8Array): Kernels {
  const exports = instantiate(new WebAssembly.Module(bytes), arena.memory);
  return new WasmKernels(arena, exports);
}

export class WasmKernels implements Kernels {
  readonly #arena: Arena;
  readonly #run: KernelExports;
  readonly #scratch: Scratch;
  readonly sparsification: WasmSparsification;
  readonly lowRank: WasmLowRank;
  readonly quantization: WasmQuantization;
  readonly reduction: WasmReduction;
  readonly reduction64: WasmReduction;

  constructor(arena: Arena, exports: KernelExports) {
    this.#arena = arena;
    this.#run = exports;
    this.#scratch = new Scratch(arena);
    this.sparsification = new WasmSparsification(arena, exports, this.#scratch);
    this.lowRank = new WasmLowRank(exports);
    this.quantization = new WasmQuantization(exports, this.#scratch);
    this.reduction = new WasmReduction(arena, reductionSteps(exports, 'f32'));
    this.reduction64 = new WasmReduction(arena, reductionSteps(exports, 'f64'));
  }

  fill(out: Vector, value: number): void {
    this.#run.fill(out.offset, out.length, value);
  }

  copy(out: Vector, x: Vector): void {
    requireSameLength(out, x);
    this.#run.copy(out.offset, x.offset, x.length);
  }

  add(out: Vector, x: Vector): void {
    requireSameLength(out, x);
    this.#run.add(out.offset, x.offset, x.length);
  }

  scale(x: Vector, factor: number): void {
    this.#run.scale(x.offset, x.length, factor);
  }

  blend(out: Vector, outFactor: number, x: Vector, xFactor: number): void {
    requireSameLength(out, x);
    this.#run.blend(out.offset, outFactor, x.offset, xFactor, out.length);
  }

  moments({ offset, length }: Vector): Moments {
    if (length === 0) return { mean: 0, variance: 0 };
    const mean = this.#run.centralSum(offset, length, 0, false) / length;
    const squares = this.#run.centralSum(offset, length, mean, true);
    return { mean, variance: squares / length };
  }

  squaredNorm(x: Vector): number {
    return this.#run.squaredNorm(x.offset, x.length);
  }

  squaredDistance(x: Vector, y: Vector): number {
    requireSameLength(x, y);
    return this.#run.squaredDistance(x.offset, y.offset, x.length);
  }

  addFinite(out: Vector, x: Vector): number {
    requireSameLength(out, x);
    const index = this.#run.addFinite(out.offset, x.offset, x.length);
    return index === x.length ? -1 : index;
  }

  firstNonFinite(x: Vector): number {
    const index = this.#run.firstNonFinite(x.offset, x.length);
    return index === x.length ? -1 : index;
  }

  selectTopK(x: Vector, k: number, out: Region): SparseStream {
    const n = x.length;
    const count = Math.min(k, n);
    requireStreamCapacity(out, count);
    if (count === n) {
      this.#run.selectAll(x.offset, n, out.offset);
    } else if (count > 0 && !this.#selectBySample(x, count, out)) {
      const scratch = this.#scratch.reserve(HISTOGRAM_BYTES);
      this.#run.selectByRadix(x.offset, n, count, out.offset, scratch);
    }
    return { offset: out.offset, count };
  }

  clearAt(x: Vector, stream: SparseStream): void {
    const { offset, count } = stream;
    const done = this.#run.clearAt(x.offset, x.length, offset, count);
    if (done < count) throw this.#outside(stream, done, x.length);
  }

  scatterAdd(out: Vector, stream: SparseStream, factor: number): void {
    const { offset, count } = stream;
    const done = this.#run.scatterAdd(out.offset, out.length, offset, count, factor);
    if (done < count) throw this.#outside(stream, done, out.length);
  }

  twoMeans(x: Vector): TwoMeans {
    this.#run.twoMeans(x.offset, x.length);
    return { plus: this.#run.plusMean(), minus: this.#run.minusMean() };
  }

  shiftBySign(x: Vector, plus: number, minus: number): void {
    this.#run.shiftBySign(x.offset, x.length, plus, minus);
  }

  /** False where sampling does not pay or the sample misled: nothing is selected yet. */
  #selectBySample(x: Vector, k: number, out: Region): boolean {
    const plan = samplePlan(x.length, k);
    if (plan === undefined) return false;
    const { size, rank, capacity } = plan;
    const scratch = this.#scratch.reserve(HISTOGRAM_BYTES + 4 * size + 8 * capacity);
    const selected = this.#run.selectBySample(
      x.offset,
      x.length,
      k,
      out.offset,
      scratch,
      size,
      rank,
      capacity,
    );
    return selected !== 0;
  }

  #outside(stream: SparseStream, position: number, length: number): Error {
    const indices = this.#arena.u32(stream.offset, stream.count);
    return streamIndexError(indices[position]!, length);
  }
}
