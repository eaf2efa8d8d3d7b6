/**
 * Fill-in: how many entries the union of several ranks' entries has, and what that means
 * for streams. What the costs of the sparse collectives are computed from.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.2: for k uniform indices of N per
 * rank, E[K] = N·(1 − (1 − k/N)^P).
 */
import type { ExchangeShape } from './collective.ts';
import { foldedRanks, rounds } from './folding.ts';
import { streamBytes } from './sparse-stream.ts';

/**
 * What one entry costs to merge, in units of γ, the cost of an element added by SIMD:
 * two streams of random indices advance by branches that cannot be predicted.
 */
export const MERGE_COST = 14;
/** The same of an entry scattered into a dense vector: an addition at a random place. */
export const SCATTER_COST = 5;

/** E[K] of k uniform indices of N on each of P ranks. */
export function expectedUnion(length: number, nnz: number, ranks: number): number {
  if (length === 0) return 0;
  return length * (1 - (1 - Math.min(1, nnz / length)) ** ranks);
}

/** k: entries per rank. */
export const entriesPerRank = ({ nnz, payloadBytes }: ExchangeShape): number =>
  nnz ?? payloadBytes / 8;

/**
 * Entries of the union of so many of the ranks. Where the reduced result has been
 * observed, the expectation is stretched to end there.
 */
export function unionOf(shape: ExchangeShape, ranks: number): number {
  const { length, nnzReduced } = shape;
  const nnz = entriesPerRank(shape);
  const expected = expectedUnion(length, nnz, ranks);
  if (nnzReduced === undefined) return expected;
  const growth = expectedUnion(length, nnz, shape.ranks) - nnz;
  return growth <= 0 ? nnz : nnz + ((nnzReduced - nnz) * (expected - nnz)) / growth;
}

/** Bytes on the wire of a part of so many equal parts of the union of so many ranks. */
export function unionBytes(shape: ExchangeShape, ranks: number, parts = 1): number {
  return streamBytes(unionOf(shape, ranks) / parts, shape.length / parts);
}

/**
 * How many ranks' entries a stream unites before each round of recursive doubling: pairs
 * that have folded count as two, on average.
 */
export function unitedPerRound({ ranks }: ExchangeShape): readonly number[] {
  const core = ranks - foldedRanks(ranks);
  return Array.from(
    { length: rounds(ranks) },
    (_, round) => (2 ** round * ranks) / core,
  );
}
