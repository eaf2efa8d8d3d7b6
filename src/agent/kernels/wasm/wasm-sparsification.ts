/**
 * Selection and the sparsifiers' kernels in SIMD WebAssembly: arguments checked, scratch
 * provided; large vectors by slices, with the same results. Sources in `assembly/`:
 * selection, threshold-selection, indexed.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { floatOf } from '../float-bits.ts';
import {
  requireIndexCapacity,
  requireSameLength,
  requireStreamCapacity,
  streamIndexError,
} from '../preconditions.ts';
import type { RandomStream } from '../random.ts';
import {
  entriesPerRun,
  type IndexList,
  type SparsificationKernels,
  type StreamRoom,
} from '../sparsification.ts';
import type { At, Elements, KernelExports, Of, Stream } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';
import { samplePlan } from './sample-plan.ts';
import { Scratch } from './scratch.ts';
import { SlicedSelection } from './sliced-selection.ts';
import { HISTOGRAM_BYTES } from './thread-scratch.ts';

type X = Elements<'x'>;
/** Room for entries: their indices, then their values. */
type Entries = Region & At<'entries'>;

/** Scratch of eight blocks of random words in assembly/indexed.ts. */
const BLOCKS_BYTES = 128;

export class WasmSparsification implements SparsificationKernels {
  readonly #arena: Arena;
  readonly #pool: KernelPool;
  readonly #run: KernelExports;
  /** Threads share vectors from this many elements on. */
  readonly #sharedFrom: number;
  readonly #sliced: SlicedSelection;
  readonly #scratch: Scratch;

  constructor(arena: Arena, pool: KernelPool) {
    this.#arena = arena;
    this.#pool = pool;
    this.#run = pool.exports;
    this.#sharedFrom = pool.sharedFrom;
    this.#sliced = new SlicedSelection(arena, pool);
    this.#scratch = new Scratch(arena);
  }

  selectTopK(x: X, k: Of<'k'>, out: Entries): SparseStream {
    const n = x.length;
    const { offset } = out;
    const count = Math.min(k, n) as Of<'k'>;
    requireStreamCapacity(out, count);
    if (k >= n) {
      this.#run.selectAll(x.offset, n, offset);
    } else if (count > 0 && n >= this.#sharedFrom) {
      const indices = out.offset as number as Of<'indices'>;
      const values = (offset + 4 * count) as Of<'values'>;
      this.#sliced.selectTopK(x, count, { indices, values });
    } else if (count > 0 && !this.#selectBySample(x, count, out)) {
      this.#run.selectByRadix(x.offset, n, count, offset, this.#pool.bins);
    }
    return { offset, count };
  }

  kthMagnitude(x: X, k: Of<'k'>): number {
    if (k < 1 || k > x.length)
      throw new Error(`internal: magnitude ${k} of ${x.length}`);
    return x.length >= this.#sharedFrom
      ? floatOf(this.#sliced.kthLargest(x, k))
      : this.#run.kthMagnitude(x.offset, x.length, k, this.#pool.bins);
  }

  appendAtLeast(
    x: X,
    threshold: number,
    first: Of<'first'>,
    room: StreamRoom,
    count: number,
    limit: number,
  ): number {
    const { offset, length } = x;
    const most = Math.min(limit, room.capacity - count);
    const indices = (room.offset + 4 * count) as Of<'indices'>;
    const values = (indices + 4 * room.capacity) as Of<'values'>;
    if (length >= this.#sharedFrom) {
      const place = { indices, values };
      const found = this.#sliced.appendAtLeast(x, threshold, first, most, place);
      if (found !== undefined) return count + found;
    }
    const run = this.#run;
    return (
      count + run.appendAtLeast(offset, length, threshold, first, most, indices, values)
    );
  }

  selectTopKPerRun(
    x: X,
    run: Of<'run'>,
    k: Of<'k'>,
    tailK: number,
    out: Region,
  ): SparseStream {
    const n = x.length;
    const count = entriesPerRun(n, run, k, tailK);
    requireStreamCapacity(out, count);
    const indices = out.offset as Of<'indices'>;
    const values = (out.offset + 4 * count) as Of<'values'>;
    const first = 0 as Of<'first'>;
    const { bins } = this.#pool;
    this.#pool
      .over(n)
      .selectTopKPerRun(x.offset, n, run, k, tailK, first, indices, values, bins);
    return { offset: out.offset, count };
  }

  gatherAt(x: X, { offset, count }: Stream, out: Vector & At<'out'>): void {
    requireSameLength({ offset, length: count }, out);
    const done = this.#run.gatherAt(x.offset, x.length, offset, count, out.offset);
    if (done < count) {
      throw streamIndexError(this.#arena.u32(offset, count)[done]!, x.length);
    }
  }

  drawIndices(
    n: number,
    k: number,
    { seed, rank = 0, bucket = 0, iteration = 0, purpose = 0 }: RandomStream,
    out: Region & At<'indices'>,
  ): IndexList {
    requireIndexCapacity(out, k, n);
    const scratch = this.#scratch.reserve(BLOCKS_BYTES + 8 * Math.ceil(n / 64));
    this.#run.sampleIndices(
      n,
      k,
      scratch as Of<'scratch'>,
      (scratch + BLOCKS_BYTES) as Of<'scratch'>,
      out.offset,
      seed,
      rank,
      bucket,
      iteration,
      purpose,
    );
    return { offset: out.offset, count: k };
  }

  /**
   * False if sampling does not pay or the sample was misleading; nothing has been
   * selected then.
   */
  #selectBySample(x: X, k: Of<'k'>, out: Entries): boolean {
    const plan = samplePlan(x.length, k);
    if (plan === undefined) return false;
    const { size, rank, capacity } = plan;
    const scratch = this.#scratch.reserve(HISTOGRAM_BYTES + 4 * size + 8 * capacity);
    const selected = this.#run.selectBySample(
      x.offset,
      x.length,
      k,
      out.offset,
      scratch as Of<'scratch'>,
      size,
      rank,
      capacity as Of<'capacity'>,
    );
    return selected !== 0;
  }
}
