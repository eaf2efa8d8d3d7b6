/**
 * Selections by slices, with the results of one thread, bit for bit. Each thread counts its
 * own histograms, which are added up; entries are written by slices. Magnitudes are bits of
 * |x|, as integers.
 */
import type { Arena } from '../../memory/arena.ts';
import { bitsOf } from '../float-bits.ts';
import type { Elements, KernelExports, Of, SlicedCalls } from './kernel-exports.ts';
import type { KernelPool } from './kernel-pool.ts';
import { samplePlan, type SamplePlan } from './sample-plan.ts';
import { Scratch } from './scratch.ts';
import { SlicedEntries, type EntryPlace } from './sliced-entries.ts';
import { THREAD_BYTES } from './thread-scratch.ts';

type X = Elements<'x'>;

const TOP_BINS = 2048;
const LOWER_BINS = 1024;
/** The top bins of a thread, four times over. */
const TOP_WORDS = 4 * TOP_BINS;
/** The share of a vector's elements that a thread has room to collect. */
const ROOM_SHARE = 1 / 8;

/** All methods are for vectors that the pool shares. */
export class SlicedSelection {
  readonly #pool: KernelPool;
  readonly #run: KernelExports;
  readonly #sliced: SlicedCalls;
  readonly #entries: SlicedEntries;
  readonly #sample: Scratch;
  readonly #candidates: Scratch;
  /** Entries at the magnitude last found that belong to the k largest. */
  #ties = 0;

  /** @param mostRoom bytes of all threads' rooms for what they collect */
  constructor(arena: Arena, pool: KernelPool, mostRoom?: number) {
    this.#pool = pool;
    this.#run = pool.exports;
    this.#sliced = pool.sliced;
    this.#entries = new SlicedEntries(arena, pool, mostRoom);
    this.#sample = new Scratch(arena);
    this.#candidates = new Scratch(arena);
  }

  /** The k largest, 1 ≤ k < n. */
  selectTopK(x: X, k: Of<'k'>, place: EntryPlace): void {
    const plan = samplePlan(x.length, k);
    if (plan === undefined || !this.#selectBySample(x, k, plan, place)) {
      this.#selectByRadix(x, k, place);
    }
  }

  /** Writes at most `most` entries ≥ threshold; undefined if one thread is quicker. */
  appendAtLeast(
    x: X,
    threshold: number,
    first: Of<'first'>,
    most: number,
    place: EntryPlace,
  ): number | undefined {
    const { mostCollected } = this.#entries;
    const share = Math.floor(x.length * ROOM_SHARE);
    const capacity = Math.min(most, share, mostCollected);
    if (capacity <= 0) return undefined;
    const bits = bitsOf(Math.abs(threshold));
    this.#entries.collect(x, bits, first, capacity);
    const placed = this.#entries.place(x.length, most, place);
    if (placed !== undefined) return placed;
    // If there are `most`, a single thread can stop reading after the last of them.
    if (capacity === most) return undefined;
    return this.#entries.compact(x, bits, x.length, most, first, place);
  }

  /** Bits of the k-th largest magnitude, 1 ≤ k ≤ n; leaves `#ties`. */
  kthLargest({ offset, length }: X, k: Of<'k'>): number {
    const { bins } = this.#pool;
    this.#clearBins(TOP_WORDS);
    this.#sliced.countTop(offset, length, bins);
    for (let thread = 0; thread < this.#pool.count; thread++) {
      this.#run.foldTop(this.#binsOf(thread));
    }
    let prefix = this.#descend(TOP_BINS, k);
    for (const shift of [10, 0]) {
      this.#clearBins(LOWER_BINS);
      this.#sliced.countBelow(offset, length, shift, prefix, bins);
      prefix = (prefix << 10) | this.#descend(LOWER_BINS, this.#ties);
    }
    return prefix;
  }

  #selectByRadix(x: X, k: Of<'k'>, place: EntryPlace): void {
    const magnitude = this.kthLargest(x, k);
    this.#entries.compact(x, magnitude, this.#ties, k, 0 as Of<'first'>, place);
  }

  /** False if the sample was misleading; nothing has been selected then. */
  #selectBySample(x: X, k: Of<'k'>, plan: SamplePlan, out: EntryPlace): boolean {
    const run = this.#run;
    const { bins } = this.#pool;
    const size = plan.size as Of<'n'>;
    const stride = run.sampleStride(x.length, size) as Of<'stride'>;
    const sample = this.#sample.reserve(4 * size);
    const strided = x.offset as number as Of<'strided'>;
    this.#sliced.takeSample(strided, size, stride, sample as Of<'out'>);
    const reach = run.kthLargest(sample as Of<'x'>, size, plan.rank as Of<'k'>, bins);
    if (reach === 0) return false;

    const candidates = this.#candidatesFrom(x, reach, plan.capacity);
    if (candidates === undefined || candidates.found < k) return false;
    const { found, indices } = candidates;
    const values = { offset: candidates.values as number, length: found } as X;
    if (found >= this.#pool.sharedFrom) {
      this.#selectByRadix(values, k, out);
    } else {
      const { offset, length } = values;
      const threshold = run.kthLargest(offset, length, k, bins);
      const ties = run.missingTies();
      const first = 0 as Of<'first'>;
      run.compact(offset, length, threshold, ties, k, first, out.indices, out.values);
    }
    run.nameCandidates(out.indices, k, indices as number as Of<'stream'>);
    return true;
  }

  /** Writes the entries ≥ `reach`; undefined if there may be `capacity` or more. */
  #candidatesFrom(
    x: X,
    reach: number,
    capacity: number,
  ): (EntryPlace & { readonly found: number }) | undefined {
    const entries = this.#entries;
    const first = 0 as Of<'first'>;
    if (capacity > entries.mostCollected) {
      const place = this.#candidatePlace(capacity);
      const found = entries.compact(x, reach, x.length, capacity, first, place);
      return found < capacity ? { ...place, found } : undefined;
    }
    const found = entries.collect(x, reach, first, capacity);
    if (found === undefined) return undefined;
    const place = this.#candidatePlace(found);
    entries.place(x.length, found, place);
    return { ...place, found };
  }

  #candidatePlace(most: number): EntryPlace {
    const offset = this.#candidates.reserve(8 * most);
    return {
      indices: offset as Of<'indices'>,
      values: (offset + 4 * most) as Of<'values'>,
    };
  }

  #clearBins(words: number): void {
    for (let thread = 0; thread < this.#pool.count; thread++) {
      const bins = this.#binsOf(thread) as number as Of<'out'>;
      this.#run.fill(bins, words as Of<'n'>, 0);
    }
  }

  /** The bin of the k-th entry from the top, over all threads' counts. */
  #descend(count: number, k: number): number {
    const { bins } = this.#pool;
    for (let thread = 1; thread < this.#pool.count; thread++) {
      this.#run.addBins(bins, this.#binsOf(thread), count);
    }
    const bin = this.#run.descend(bins, count, k);
    this.#ties = this.#run.missingTies();
    return bin;
  }

  #binsOf(thread: number): Of<'bins'> {
    return (this.#pool.bins + thread * THREAD_BYTES) as Of<'bins'>;
  }
}
