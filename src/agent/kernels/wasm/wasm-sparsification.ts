/**
 * The sparsifiers' kernels in SIMD WebAssembly: arguments checked, scratch provided.
 * Sources in `assembly/`: threshold-selection, indexed.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import {
  requireIndexCapacity,
  requireSameLength,
  requireStreamCapacity,
  streamIndexError,
} from '../preconditions.ts';
import type { StreamName } from '../random.ts';
import {
  entriesPerRun,
  type IndexList,
  type SparsificationKernels,
  type StreamRoom,
} from '../sparsification.ts';
import type { Scratch } from './scratch.ts';

export interface SparsificationExports {
  kthMagnitude(x: number, n: number, k: number, scratch: number): number;
  appendAtLeast(
    x: number,
    n: number,
    threshold: number,
    first: number,
    limit: number,
    indices: number,
    values: number,
  ): number;
  selectTopKPerRun(
    x: number,
    n: number,
    run: number,
    k: number,
    tailK: number,
    first: number,
    indices: number,
    values: number,
    scratch: number,
  ): void;
  gatherAt(x: number, n: number, list: number, count: number, out: number): number;
  nameStream(
    seed: number,
    rank: number,
    bucket: number,
    iteration: number,
    purpose: number,
  ): void;
  sampleIndices(n: number, k: number, words: number, bitmap: number, out: number): void;
}

/** Scratch of the histograms in assembly/selection.ts. */
export const HISTOGRAM_BYTES = 32_768;
/** Scratch of eight blocks of random words in assembly/indexed.ts. */
const BLOCKS_BYTES = 128;

export class WasmSparsification implements SparsificationKernels {
  readonly #arena: Arena;
  readonly #run: SparsificationExports;
  readonly #scratch: Scratch;

  constructor(arena: Arena, exports: SparsificationExports, scratch: Scratch) {
    this.#arena = arena;
    this.#run = exports;
    this.#scratch = scratch;
  }

  kthMagnitude({ offset, length }: Vector, k: number): number {
    if (k < 1 || k > length) throw new Error(`internal: magnitude ${k} of ${length}`);
    const scratch = this.#scratch.reserve(HISTOGRAM_BYTES);
    return this.#run.kthMagnitude(offset, length, k, scratch);
  }

  appendAtLeast(
    x: Vector,
    threshold: number,
    first: number,
    room: StreamRoom,
    count: number,
    limit: number,
  ): number {
    const indices = room.offset + 4 * count;
    const found = this.#run.appendAtLeast(
      x.offset,
      x.length,
      threshold,
      first,
      Math.min(limit, room.capacity - count),
      indices,
      indices + 4 * room.capacity,
    );
    return count + found;
  }

  selectTopKPerRun(
    x: Vector,
    run: number,
    k: number,
    tailK: number,
    out: Region,
  ): SparseStream {
    const n = x.length;
    const count = entriesPerRun(n, run, k, tailK);
    requireStreamCapacity(out, count);
    this.#run.selectTopKPerRun(
      x.offset,
      n,
      run,
      k,
      tailK,
      0,
      out.offset,
      out.offset + 4 * count,
      this.#scratch.reserve(HISTOGRAM_BYTES),
    );
    return { offset: out.offset, count };
  }

  gatherAt(x: Vector, indices: IndexList, out: Vector): void {
    const { offset, count } = indices;
    requireSameLength({ offset, length: count }, out);
    const done = this.#run.gatherAt(x.offset, x.length, offset, count, out.offset);
    if (done < count) {
      throw streamIndexError(this.#arena.u32(offset, count)[done]!, x.length);
    }
  }

  drawIndices(n: number, k: number, name: StreamName, out: Region): IndexList {
    requireIndexCapacity(out, k, n);
    const { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 } = name;
    const scratch = this.#scratch.reserve(BLOCKS_BYTES + 8 * Math.ceil(n / 64));
    this.#run.nameStream(seed, rank, bucket, iteration, purpose);
    this.#run.sampleIndices(n, k, scratch, scratch + BLOCKS_BYTES, out.offset);
    return { offset: out.offset, count: k };
  }
}
