/**
 * The cost of flat collectives, which treat all ranks alike, when ranks are on several
 * nodes. Every rank pays the latency between nodes, since a rank with neighbours there
 * makes the others wait; and the bytes that leave the busiest node pass its single link,
 * one rank after the other, in addition to the time within nodes. A collective whose
 * ranks talk to few others states how many bytes leave the node; for any other, traffic
 * is assumed to be spread evenly over all ranks, which is exact for all-to-all messages
 * and about 25 % too low for Bruck's rounds. If every rank has its own link, nothing is
 * shared, and every message takes as long as the slowest.
 */
import {
  betweenNodes,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';
import type { CollectiveDefinition, ExchangeShape } from './collective.ts';
import { foldedRanks, rounds } from './folding.ts';
import { ranksByNode } from './ranks-by-node.ts';

type Costs = Pick<CollectiveDefinition, 'cost' | 'wireBytes' | 'crossing' | 'forNodes'>;

/** Predicted seconds, wherever the ranks are. */
export function placedSeconds(
  collective: Costs,
  shape: ExchangeShape,
  network: NetworkCost,
): number {
  const { places } = shape;
  if (collective.forNodes === true || places === undefined || !isSpread(places)) {
    return collective.cost(shape, network);
  }
  const { alpha, overhead = alpha } = network;
  const between = betweenNodes(network);
  if (network.between?.perRank === true) {
    const beta = Math.max(network.beta, between.beta);
    return collective.cost(shape, {
      ...network,
      alpha: Math.max(alpha, between.alpha),
      overhead,
      beta,
      rates: network.rates?.map((rate) => ({
        ...rate,
        beta: Math.max(beta, rate.beta),
      })),
    });
  }
  const bytes =
    collective.crossing?.(shape, places) ??
    evenlySpread(collective.wireBytes(shape), places);
  const slowed = { ...network, alpha: between.alpha, overhead };
  return collective.cost(shape, slowed) + bytes * between.beta;
}

const isSpread = (places: readonly number[]): boolean =>
  places.some((place) => place !== places[0]);

/** Bytes that leave the busiest node if every rank sends this many, evenly, to all others. */
function evenlySpread(bytes: number, places: readonly number[]): number {
  const ranks = places.length;
  const leaving = ranksByNode(places).nodes.map(
    ({ length }) => (length * (ranks - length)) / (ranks - 1),
  );
  return bytes * Math.max(...leaving);
}

/** Bytes that leave the busiest node if every rank sends this many to the next one alone. */
export const crossingRing = (bytes: number, places: readonly number[]): number =>
  busiest(places, (rank) => [{ to: (rank + 1) % places.length, bytes }]);

/** The bytes that ranks swap at one distance. */
interface Swap {
  readonly distance: number;
  readonly bytes: number;
}

/**
 * Bytes that leave the busiest node in swaps at powers of two, plus the folding of pairs if P is
 * not a power of two.
 */
export function crossingSwaps(
  swaps: readonly Swap[],
  folds: { readonly before: number; readonly after: number },
  places: readonly number[],
): number {
  const folded = foldedRanks(places.length);
  const rankAt = (place: number): number =>
    place < folded ? 2 * place + 1 : place + folded;
  return busiest(places, (rank) => {
    const inPair = rank < 2 * folded;
    if (inPair && rank % 2 === 0) return [{ to: rank + 1, bytes: folds.before }];
    const place = inPair ? (rank - 1) / 2 : rank - folded;
    const swapped = swaps.map(({ distance, bytes }) => ({
      to: rankAt(place ^ distance),
      bytes,
    }));
    return inPair ? [...swapped, { to: rank - 1, bytes: folds.after }] : swapped;
  });
}

/** 1, 2, 4, …: the distances of recursive doubling. */
export const doublingDistances = (ranks: number): readonly number[] =>
  Array.from({ length: rounds(ranks) }, (_, round) => 2 ** round);

function busiest(
  places: readonly number[],
  sentBy: (rank: number) => readonly { readonly to: number; readonly bytes: number }[],
): number {
  const leaving = new Map<number, number>();
  for (const [rank, place] of places.entries()) {
    for (const { to, bytes } of sentBy(rank)) {
      if (places[to] === place) continue;
      leaving.set(place, (leaving.get(place) ?? 0) + bytes);
    }
  }
  return Math.max(0, ...leaving.values());
}
