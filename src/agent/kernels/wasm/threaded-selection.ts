/**
 * Selections on several threads, with the results of one, bit for bit. Histograms are
 * counted by each thread for itself and added up; entries are written by slices. Small
 * vectors, and what goes through lists of indices, are left to one thread.
 */
import type { Arena, Region, Vector } from '../../memory/arena.ts';
import type { SparseStream } from '../../memory/entries.ts';
import { requireStreamCapacity } from '../preconditions.ts';
import type { StreamName } from '../random.ts';
import {
  entriesPerRun,
  type IndexList,
  type SparsificationKernels,
  type StreamRoom,
} from '../sparsification.ts';
import { SLICE } from './job-board.ts';
import type { KernelThreads } from './kernel-threads.ts';
import { samplePlan, type SamplePlan } from './sample-plan.ts';
import { Scratch } from './scratch.ts';
import { SlicedEntries, type EntryPlace } from './sliced-entries.ts';

const TOP_BINS = 2048;
const LOWER_BINS = 1024;
/** The top bins of a thread, four times over. */
const TOP_WORDS = 4 * TOP_BINS;
const SAMPLE_SLICE = 4096;
/** Of a vector's entries, how many a thread has room to collect beside it. */
const ROOM_SHARE = 1 / 8;

export class ThreadedSelection implements SparsificationKernels {
  readonly #threads: KernelThreads;
  readonly #alone: SparsificationKernels;
  readonly #entries: SlicedEntries;
  readonly #sample: Scratch;
  readonly #candidates: Scratch;
  /** Entries at the magnitude last found that belong to the k largest. */
  #ties = 0;

  /** @param alone the kernels of one thread */
  constructor(arena: Arena, threads: KernelThreads, alone: SparsificationKernels) {
    this.#threads = threads;
    this.#alone = alone;
    this.#entries = new SlicedEntries(arena, threads);
    this.#sample = new Scratch(arena);
    this.#candidates = new Scratch(arena);
  }

  /** Where `threads.takes(x.length)` and k < n: as `Kernels.selectTopK`. */
  selectTopK(x: Vector, k: number, out: Region): SparseStream {
    const place = { indices: out.offset, values: out.offset + 4 * k };
    const plan = samplePlan(x.length, k);
    if (plan === undefined || !this.#selectBySample(x, k, plan, place)) {
      this.#selectByRadix(x, k, place);
    }
    return { offset: out.offset, count: k };
  }

  kthMagnitude(x: Vector, k: number): number {
    if (k < 1 || k > x.length || !this.#threads.takes(x.length)) {
      return this.#alone.kthMagnitude(x, k);
    }
    return magnitudeOf(this.#kthLargest(x, k));
  }

  appendAtLeast(
    x: Vector,
    threshold: number,
    first: number,
    room: StreamRoom,
    count: number,
    limit: number,
  ): number {
    const most = Math.min(limit, room.capacity - count);
    const capacity = Math.min(most, Math.floor(x.length * ROOM_SHARE));
    if (capacity <= 0 || !this.#threads.takes(x.length)) {
      return this.#alone.appendAtLeast(x, threshold, first, room, count, limit);
    }
    const bits = bitsOf(threshold);
    const indices = room.offset + 4 * count;
    const place = { indices, values: indices + 4 * room.capacity };
    this.#entries.collect(x, bits, first, capacity);
    const placed = this.#entries.place(x.length, most, place);
    if (placed !== undefined) return count + placed;
    // There are `most`, and one thread need not read on behind the last of them.
    if (capacity === most) {
      return this.#alone.appendAtLeast(x, threshold, first, room, count, limit);
    }
    return count + this.#entries.compact(x, bits, x.length, most, first, place);
  }

  selectTopKPerRun(
    x: Vector,
    run: number,
    k: number,
    tailK: number,
    out: Region,
  ): SparseStream {
    const n = x.length;
    const sliceLength = run * Math.ceil(SLICE / run);
    if (!this.#threads.takes(n) || 2 * sliceLength > n) {
      return this.#alone.selectTopKPerRun(x, run, k, tailK, out);
    }
    const count = entriesPerRun(n, run, k, tailK);
    requireStreamCapacity(out, count);
    const perSlice = 4 * entriesPerRun(sliceLength, run, k, tailK);
    const threads = this.#threads;
    threads
      .job('selectTopKPerRun', n, sliceLength)
      .elements(x)
      .length()
      .fixed(run)
      .fixed(k)
      .fixed(tailK)
      .step(0, sliceLength)
      .step(out.offset, perSlice)
      .step(out.offset + 4 * count, perSlice)
      .own(threads.bins, threads.threadBytes);
    threads.run();
    return { offset: out.offset, count };
  }

  gatherAt(x: Vector, indices: IndexList, out: Vector): void {
    this.#alone.gatherAt(x, indices, out);
  }

  drawIndices(n: number, k: number, name: StreamName, out: Region): IndexList {
    return this.#alone.drawIndices(n, k, name, out);
  }

  #selectByRadix(x: Vector, k: number, place: EntryPlace): void {
    const magnitude = this.#kthLargest(x, k);
    this.#entries.compact(x, magnitude, this.#ties, k, 0, place);
  }

  /** False where the sample misled: nothing is selected yet. */
  #selectBySample(x: Vector, k: number, plan: SamplePlan, out: EntryPlace): boolean {
    const threads = this.#threads;
    const { exports } = threads;
    const stride = exports.sampleStride(x.length, plan.size);
    const sample = this.#sample.reserve(4 * plan.size);
    threads
      .job('takeSample', plan.size, SAMPLE_SLICE)
      .step(x.offset, 4 * stride * SAMPLE_SLICE)
      .length()
      .fixed(stride)
      .step(sample, 4 * SAMPLE_SLICE);
    threads.run();
    const reach = exports.kthLargest(sample, plan.size, plan.rank, threads.bins);
    if (reach === 0) return false;

    const found = this.#entries.collect(x, reach, 0, plan.capacity);
    if (found === undefined || found < k) return false;
    const indices = this.#candidates.reserve(8 * found);
    const values = { offset: indices + 4 * found, length: found };
    this.#entries.place(x.length, found, { indices, values: values.offset });
    if (threads.takes(found)) {
      this.#selectByRadix(values, k, out);
    } else {
      const threshold = exports.kthLargest(values.offset, found, k, threads.bins);
      const ties = exports.missingTies();
      const { offset } = values;
      exports.compact(offset, found, threshold, ties, k, 0, out.indices, out.values);
    }
    exports.nameCandidates(out.indices, k, indices);
    return true;
  }

  /** Bits of the k-th largest magnitude, 1 ≤ k ≤ n; leaves `#ties`. */
  #kthLargest(x: Vector, k: number): number {
    const threads = this.#threads;
    const { exports, bins, threadBytes } = threads;
    this.#clearBins(TOP_WORDS);
    threads.job('countTop', x.length).elements(x).length().own(bins, threadBytes);
    threads.run();
    for (let thread = 0; thread < threads.count; thread++) {
      exports.foldTop(bins + thread * threadBytes);
    }
    let prefix = this.#descend(TOP_BINS, k);
    for (const shift of [10, 0]) {
      this.#clearBins(LOWER_BINS);
      threads
        .job('countBelow', x.length)
        .elements(x)
        .length()
        .fixed(shift)
        .fixed(prefix)
        .own(bins, threadBytes);
      threads.run();
      prefix = (prefix << 10) | this.#descend(LOWER_BINS, this.#ties);
    }
    return prefix;
  }

  #clearBins(words: number): void {
    const { bins, threadBytes, count, exports } = this.#threads;
    for (let thread = 0; thread < count; thread++) {
      exports.fill(bins + thread * threadBytes, words, 0);
    }
  }

  /** The bin in which the k-th entry from the top lies, of all threads' counts. */
  #descend(count: number, k: number): number {
    const { bins, threadBytes, count: threads, exports } = this.#threads;
    for (let thread = 1; thread < threads; thread++) {
      exports.addBins(bins, bins + thread * threadBytes, count);
    }
    const bin = exports.descend(bins, count, k);
    this.#ties = exports.missingTies();
    return bin;
  }
}

const floats = new Float32Array(1);
const words = new Uint32Array(floats.buffer);

/** Bits of |x|. */
function bitsOf(x: number): number {
  floats[0] = Math.abs(x);
  return words[0]!;
}

function magnitudeOf(bits: number): number {
  words[0] = bits;
  return floats[0]!;
}
