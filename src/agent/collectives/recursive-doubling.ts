/**
 * Recursive doubling allreduce: in round t every rank swaps its whole vector with the
 * rank at distance 2^t and adds. Fewest messages: for scalars and small vectors.
 *
 * Cost: log₂P·(α + N·4β + N·γ). For any other P, r = P − 2^⌊log₂P⌋ pairs fold before and
 * unfold after: two more messages.
 *
 * The order of summation is a fixed tree over the ranks; both sides of a swap add the
 * same two numbers, and addition commutes bit for bit: all ranks get the same bits. If
 * two NaNs differ, however, a rank may keep either.
 *
 * Source: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
 * operations in MPICH" (2005), section 4.
 */
import { messageSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Region } from '../memory/arena.ts';
import { vectorOf } from '../memory/arena.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { foldedRanks, rounds } from './folding.ts';
import { crossingSwaps, doublingDistances } from './node-links.ts';
import { payloadVector, vectorRegion } from './payload-region.ts';

export const recursiveDoubling: CollectiveDefinition = {
  id: 'recursive-doubling',
  code: 2,
  title: 'Recursive doubling',
  summary: 'Whole vectors exchanged at doubling distances: fewest messages.',
  source: 'Thakur, Rabenseifner and Gropp (2005), IJHPCA 19(1)',
  formula: 'log₂P·(α + N·4β + N·γ)',
  suits: 'Scalars and small vectors.',
  takes: ['dense', 'scalars'],
  cost: ({ ranks, payloadBytes, valueBytes = 4 }, network) => {
    const message = messageSeconds(network, payloadBytes);
    const sum = (payloadBytes / valueBytes) * network.gamma;
    const fold = foldedRanks(ranks) > 0 ? 2 * message + sum : 0;
    return rounds(ranks) * (message + sum) + fold;
  },
  wireBytes: (shape) => {
    const sent = Array.from({ length: shape.ranks }, (_, rank) =>
      recursiveDoublingBytesSent(rank, shape),
    );
    return sent.reduce((most, bytes) => Math.max(most, bytes), 0);
  },
  crossing: ({ payloadBytes: bytes, ranks }, places) => {
    const swaps = doublingDistances(ranks).map((distance) => ({ distance, bytes }));
    return crossingSwaps(swaps, { before: bytes, after: bytes }, places);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { operation, reduction, valueBytes } = communicator;
    const vector = payloadVector(payload, valueBytes);
    const region = vectorRegion(vector, valueBytes);
    await doubleRecursively(communicator, region, (other) => {
      reduction.combine(operation, vector, vectorOf(other, vector.length));
    });
    return { form: 'dense', data: region };
  },
};

/** Bytes that one rank sends, framing excluded: exact. */
export function recursiveDoublingBytesSent(rank: number, shape: ExchangeShape): number {
  const { ranks, payloadBytes } = shape;
  if (payloadBytes === 0) return 0;
  const folded = rank < 2 * foldedRanks(ranks);
  if (folded && rank % 2 === 0) return payloadBytes;
  return (rounds(ranks) + (folded ? 1 : 0)) * payloadBytes;
}

/**
 * Combine one region of all ranks in place. `combine(other)` combines what another rank
 * sent into the region; it must be commutative bit for bit.
 */
export async function doubleRecursively(
  communicator: Communicator,
  region: Region,
  combine: (other: Region) => void,
): Promise<void> {
  const { rank, size } = communicator;
  if (size === 1 || region.bytes === 0) return;
  const scratch = communicator.scratch('recursive-doubling', region.bytes);
  const other = { offset: scratch.offset, bytes: region.bytes };
  const folded = foldedRanks(size);
  if (rank < 2 * folded && rank % 2 === 0) {
    // This rank sends its vector to its neighbour, which returns the result.
    await communicator.send(rank + 1, region);
    await communicator.receive(rank + 1, region);
    return;
  }
  if (rank < 2 * folded) {
    await communicator.receive(rank - 1, other);
    communicator.reduce(() => {
      combine(other);
    });
  }
  // Ranks that take part in the rounds, renumbered without gaps.
  const place = rank < 2 * folded ? (rank - 1) / 2 : rank - folded;
  for (let distance = 1; distance < size - folded; distance *= 2) {
    const partnerPlace = place ^ distance;
    const partner =
      partnerPlace < folded ? 2 * partnerPlace + 1 : partnerPlace + folded;
    const received = communicator.receive(partner, other);
    // The region changes below, so its send must have completed.
    await communicator.send(partner, region);
    await received;
    communicator.reduce(() => {
      combine(other);
    });
  }
  if (rank < 2 * folded) await communicator.send(rank - 1, region);
}
