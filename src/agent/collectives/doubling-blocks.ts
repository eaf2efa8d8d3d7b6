/**
 * Allgather of one block per rank in ⌈log₂P⌉ rounds for any P (Bruck): before the round
 * of distance d a rank has d blocks, starting with its own and wrapping around; it sends
 * them to the rank d below and gets the next d from the rank d above, fewer in the last
 * round. Every rank receives every other block exactly once.
 *
 * Source: Bruck, Ho, Kipnis, Upfal and Weathersbee (1997), IEEE TPDS 8(11).
 */
import {
  messageSeconds,
  type NetworkCost,
} from '../../shared/cost-model/network-cost.ts';

export interface BlockRound {
  readonly to: number;
  readonly from: number;
  /** Blocks that are sent, in this order. */
  readonly sent: readonly number[];
  readonly received: readonly number[];
}

/** Seconds of all rounds, with blocks of this many bytes: at most ⌈log₂P⌉·α + (P−1)·bytes·β. */
export function blockRoundSeconds(
  network: NetworkCost,
  ranks: number,
  bytes: number,
): number {
  let seconds = 0;
  for (let distance = 1; distance < ranks; distance *= 2) {
    seconds += messageSeconds(network, Math.min(distance, ranks - distance) * bytes);
  }
  return seconds;
}

export function blockRounds(rank: number, ranks: number): readonly BlockRound[] {
  const rounds: BlockRound[] = [];
  for (let distance = 1; distance < ranks; distance *= 2) {
    const count = Math.min(distance, ranks - distance);
    const from = (rank + distance) % ranks;
    const blocksOf = (first: number): readonly number[] =>
      Array.from({ length: count }, (_, index) => (first + index) % ranks);
    rounds.push({
      to: (rank - distance + ranks) % ranks,
      from,
      sent: blocksOf(rank),
      received: blocksOf(from),
    });
  }
  return rounds;
}
