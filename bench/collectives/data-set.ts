/**
 * Vectors that one rank gives to a collective: values 1…8, so that sums are exact in f32 and none
 * cancels, at every element or at k of N uniform indices without repetition, as SparCML's
 * microbenchmark has them.
 */
import { CounterRandom } from '../../src/agent/kernels/random.ts';

export interface SparseData {
  /** Ascending. */
  readonly indices: Uint32Array;
  readonly values: Float32Array;
}

/**
 * Entries of the data sets that a rank uses in turn, each in one exchange, as in training. With few entries
 * a processor learns the branches of those that return: a merge in C took 0.7 µs of 263 entries
 * each, with twenty sets in turn, and 2.5 with two thousand.
 */
const ENTRIES_IN_TURN = 2 ** 17;
const MOST_IN_TURN = 512;

/** The number of data sets of that many entries. `bench/peers/mpi_sparse.c` has the same rule. */
export const setsInTurn = (count: number): number =>
  Math.min(MOST_IN_TURN, Math.ceil(ENTRIES_IN_TURN / Math.max(1, count)));

export interface DataSetKey {
  readonly rank: number;
  readonly length: number;
  readonly count: number;
  readonly dataSet: number;
}

/** O(N/8) memory while it is made. */
export function sparseData({ rank, length, count, dataSet }: DataSetKey): SparseData {
  const random = new CounterRandom({ seed: dataSet + 1, rank });
  const taken = new Uint8Array(Math.ceil(length / 8));
  // Of more than half the indices it is quicker to choose those that are left out.
  const inverted = count > length / 2;
  let missing = inverted ? length - count : count;
  for (let draw = 0; missing > 0; draw++) {
    const index = Math.floor((random.bits(draw) / 2 ** 32) * length);
    const bit = 1 << (index & 7);
    if ((taken[index >> 3]! & bit) !== 0) continue;
    taken[index >> 3]! |= bit;
    missing--;
  }
  const indices = new Uint32Array(count);
  let entry = 0;
  for (let index = 0; index < length; index++) {
    const chosen = ((taken[index >> 3]! >> (index & 7)) & 1) === 1;
    if (chosen !== inverted) indices[entry++] = index;
  }
  return { indices, values: Float32Array.from(indices, valueAt) };
}

export const valueAt = (index: number): number => (index & 7) + 1;
