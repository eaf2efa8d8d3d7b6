/**
 * A split of the vector into P adjacent ranges with about equally many entries, counted
 * over all ranks. Every rank describes its entries by a histogram of equal counts: the
 * indices that bound each 64th of them. From all histograms each rank computes the same
 * boundaries.
 *
 * Cost: ⌈log₂P⌉·α + (P−1)·264·β; P·log₂N looks at P histograms. A range has at most 2/64 of
 * every rank's entries more than its share.
 *
 * Source: Ok-Topk (Li and Hoefler, PPoPP 2022), section 3.1.1, which averages the
 * boundaries that each rank computes on its own.
 */
import type { SparseStream } from '../memory/entries.ts';
import { allgather } from './allgather.ts';
import type { Communicator } from './collective.ts';
import { partRanges, type ElementRange } from './partition.ts';

/** Bins of a histogram. */
const BINS = 64;
/**
 * The count, then the edges: a bin's edge is its first index; the last edge ends the last
 * bin.
 */
const WORDS = BINS + 2;
export const HISTOGRAM_BYTES = 4 * WORDS;

/** Agrees on ranges, the same on all ranks; equal parts if no rank has an entry. */
export async function balancedRanges(
  communicator: Communicator,
  stream: SparseStream,
  length: number,
): Promise<readonly ElementRange[]> {
  const { arena, rank, size } = communicator;
  const into = communicator.scratch('histograms', HISTOGRAM_BYTES * size);
  const histogram = (of: number): Uint32Array =>
    arena.u32(into.offset + HISTOGRAM_BYTES * of, WORDS);
  communicator.reduce(() => {
    describe(arena.u32(stream.offset, stream.count), histogram(rank));
  });
  const sizes = new Array<number>(size).fill(HISTOGRAM_BYTES);
  await allgather.run(communicator, into, sizes);
  return communicator.reduce(() => {
    const histograms = Array.from({ length: size }, (_, of) => histogram(of));
    return rangesOf(histograms, length);
  });
}

function describe(indices: Uint32Array, histogram: Uint32Array): void {
  const { length } = indices;
  histogram[0] = length;
  for (let bin = 0; bin < BINS; bin++) {
    histogram[1 + bin] = length === 0 ? 0 : indices[firstOf(bin, length)]!;
  }
  histogram[1 + BINS] = length === 0 ? 0 : indices[length - 1]! + 1;
}

/** Entries in front of a bin. */
const firstOf = (bin: number, count: number): number =>
  Math.floor((bin * count) / BINS);

/** Cuts the vector into as many ranges as there are histograms. */
function rangesOf(
  histograms: readonly Uint32Array[],
  length: number,
): readonly ElementRange[] {
  const parts = histograms.length;
  const below = (index: number): number =>
    histograms.reduce((sum, histogram) => sum + entriesBelow(histogram, index), 0);
  const total = histograms.reduce((sum, [count]) => sum + count!, 0);
  if (total === 0) return partRanges(length, parts);
  const starts = [0];
  for (let index = 1; index < parts; index++) {
    let low = starts.at(-1)!;
    let high = length;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (parts * below(middle) < index * total) low = middle + 1;
      else high = middle;
    }
    starts.push(low);
  }
  return starts.map((start, index) => ({
    start,
    length: (starts[index + 1] ?? length) - start,
  }));
}

/** Estimates how many of a rank's entries are below an index: within a bin, evenly spread. */
function entriesBelow(histogram: Uint32Array, index: number): number {
  const count = histogram[0]!;
  let low = 0;
  let high = BINS + 1;
  // The first edge that is not below the index.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (histogram[1 + middle]! < index) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return 0;
  if (low > BINS) return count;
  const first = firstOf(low - 1, count);
  const edge = histogram[low]!;
  const width = histogram[1 + low]! - edge;
  return first + ((index - edge) / width) * (firstOf(low, count) - first);
}
