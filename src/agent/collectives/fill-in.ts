/**
 * Fill-in: how streams grow as they unite the entries of more ranks, and what this means
 * for their bytes and for the work of merging them. The costs of the sparse collectives
 * use it; E[K] says how fast streams grow (`shared/cost-model/fill-in.ts`).
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 5.1 and 5.2.
 */
import { expectedUnion } from '../../shared/cost-model/fill-in.ts';
import {
  mergeSeconds,
  scatterSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { ExchangeShape } from './collective.ts';
import { reachesDelta } from './delta.ts';
import { foldedRanks, rounds } from './folding.ts';
import { streamBytes } from './sparse-stream.ts';

/** k: entries per rank. */
export const entriesPerRank = (shape: ExchangeShape): number =>
  shape.nnz ?? shape.payloadBytes / sparseBytes(1, shape.valueBytes);

/**
 * Entries of the union over this many of the ranks. Where the reduced result has been
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

/** Bytes on the wire of one of several equal parts of the union over this many ranks. */
export function unionBytes(shape: ExchangeShape, ranks: number, parts = 1): number {
  return streamBytes(unionOf(shape, ranks) / parts, shape.length / parts, shape);
}

/**
 * Counts the ranks whose entries a stream unites before each round of recursive doubling: pairs
 * that have folded count as two, on average.
 */
export function unitedPerRound({ ranks }: ExchangeShape): readonly number[] {
  const core = ranks - foldedRanks(ranks);
  return Array.from(
    { length: rounds(ranks) },
    (_, round) => (2 ** round * ranks) / core,
  );
}

/** A range of a vector. */
type MergedRange = Pick<ExchangeShape, 'length' | 'valueBytes' | 'delta'>;

/**
 * Seconds for merging two contributions to a range, with these numbers of entries, into
 * one, which is dense if they reach δ: as `merged` of `sparse-stream.ts` does it.
 */
export function mergedSeconds(
  a: number,
  b: number,
  range: MergedRange,
  network: NetworkCost,
): number {
  const { length } = range;
  const isDense = (entries: number) => reachesDelta(entries, length, range);
  const dense = [a, b].filter(isDense).length;
  if (dense === 2) return length * network.gamma;
  if (dense === 1) return Math.min(a, b) * scatterSeconds(network);
  if (!isDense(a + b)) return (a + b) * mergeSeconds(network);
  return length * network.gamma + (a + b) * scatterSeconds(network);
}

/**
 * Seconds for merging all ranks' contributions to one of several equal parts of the
 * range, as a tree: neighbours, then their results.
 */
export function mergedTreeSeconds(
  shape: ExchangeShape,
  parts: number,
  network: NetworkCost,
): number {
  let seconds = 0;
  for (let united = 1; united < shape.ranks; united *= 2) {
    const entries = unionOf(shape, united) / parts;
    const merges = shape.ranks / (2 * united);
    seconds += merges * mergedSeconds(entries, entries, partOf(shape, parts), network);
  }
  return seconds;
}

/** The size of each part if the vector is cut into `parts` equal ones. */
export const partOf = (
  { length, valueBytes, delta }: ExchangeShape,
  parts: number,
): MergedRange => ({ length: length / parts, valueBytes, delta });

/** Seconds for copying a payload into its parts. */
export const splitSeconds = (shape: ExchangeShape, { gamma }: NetworkCost): number =>
  2 * entriesPerRank(shape) * gamma;

/**
 * Seconds for joining the reduced parts into one dense vector; sparse ones stay where
 * they are.
 */
export const assembledSeconds = (
  shape: ExchangeShape,
  { gamma }: NetworkCost,
): number => {
  const { length, ranks } = shape;
  const dense = reachesDelta(unionOf(shape, ranks), length, shape);
  return dense ? length * gamma : 0;
};
