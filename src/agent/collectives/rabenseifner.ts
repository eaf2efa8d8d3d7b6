/**
 * Rabenseifner's allreduce: reduce-scatter by recursive halving, then allgather by
 * recursive doubling. The ring's bytes in the fewest messages: for vectors of medium size
 * and for many ranks.
 *
 * Cost: 2·log₂P·α + 2(P−1)/P·N·4β + (P−1)/P·N·γ. For any other P, r = P − 2^⌊log₂P⌋ pairs
 * fold before and unfold after: two more messages of the whole vector.
 *
 * A part is summed by one rank alone, as a fixed tree over the ranks: all ranks get the
 * same bits.
 *
 * Source: Rabenseifner, "Optimization of collective reduction operations" (2004); Thakur,
 * Rabenseifner and Gropp (2005), section 4.
 */
import { messageSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type { Vector } from '../memory/arena.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { foldedRanks, rounds } from './folding.ts';
import { crossingSwaps, doublingDistances } from './node-links.ts';
import { partRange } from './partition.ts';
import { payloadVector, vectorRegion, wantsAverage } from './payload-region.ts';

export const rabenseifner: CollectiveDefinition = {
  id: 'rabenseifner',
  code: 4,
  title: 'Rabenseifner',
  summary: 'Dense halves summed, then gathered by doubling: few messages, few bytes.',
  source: 'Thakur, Rabenseifner and Gropp (2005), IJHPCA 19(1)',
  formula: '2·log₂P·α + 2(P−1)/P·N·4β + (P−1)/P·N·γ',
  suits: 'Vectors of medium size, and many ranks.',
  takes: ['dense', 'scalars'],
  cost: ({ ranks, payloadBytes, valueBytes = 4 }, network) => {
    const { gamma } = network;
    let seconds = 0;
    if (foldedRanks(ranks) > 0) {
      seconds +=
        2 * messageSeconds(network, payloadBytes) + (payloadBytes / valueBytes) * gamma;
    }
    for (let round = 1; round <= rounds(ranks); round++) {
      const half = payloadBytes / 2 ** round;
      seconds += 2 * messageSeconds(network, half) + (half / valueBytes) * gamma;
    }
    return seconds;
  },
  wireBytes: (shape) => {
    const sent = Array.from({ length: shape.ranks }, (_, rank) =>
      rabenseifnerBytesSent(rank, shape),
    );
    return sent.reduce((most, bytes) => Math.max(most, bytes), 0);
  },
  crossing: ({ payloadBytes, ranks }, places) => {
    const core = ranks - foldedRanks(ranks);
    const swaps = doublingDistances(ranks).map((distance) => ({
      distance,
      bytes: (2 * payloadBytes * distance) / core,
    }));
    return crossingSwaps(swaps, { before: payloadBytes, after: payloadBytes }, places);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { kernels, operation, rank, reduction, size, valueBytes } = communicator;
    const vector = payloadVector(payload, valueBytes);
    const averages = wantsAverage(communicator, payload);
    const region = vectorRegion(vector, valueBytes);
    if (size === 1 || region.bytes === 0) return { form: 'dense', data: region };
    const other = { offset: communicator.scratch('rabenseifner', region.bytes).offset };
    const add = (out: Vector): void => {
      communicator.reduce(() => {
        reduction.combine(operation, out, { ...out, offset: other.offset });
      });
    };
    const folded = foldedRanks(size);
    const result: Combined = { form: 'dense', data: region, averaged: averages };
    if (rank < 2 * folded && rank % 2 === 0) {
      // This rank sends its vector to its neighbour, which returns the result.
      await communicator.send(rank + 1, region);
      await communicator.receive(rank + 1, region);
      return result;
    }
    if (rank < 2 * folded) {
      await communicator.receive(rank - 1, { ...region, ...other });
      add(vector);
    }
    const place = rank < 2 * folded ? (rank - 1) / 2 : rank - folded;
    const rankAt = (at: number): number => (at < folded ? 2 * at + 1 : at + folded);
    const blocks = (first: number, count: number): Vector =>
      blockVector(vector, size - folded, first, count, valueBytes);
    const steps = halvings(place, size - folded);
    for (const { partner, kept, given, count } of steps) {
      const mine = blocks(kept, count);
      const received = communicator.receive(rankAt(partner), {
        ...vectorRegion(mine, valueBytes),
        ...other,
      });
      await communicator.send(
        rankAt(partner),
        vectorRegion(blocks(given, count), valueBytes),
      );
      await received;
      add(mine);
    }
    if (averages) {
      const own = blocks(place, 1);
      communicator.reduce(() => {
        kernels.scale(own, 1 / size);
      });
    }
    for (const { partner, kept, given, count } of steps.toReversed()) {
      const received = communicator.receive(
        rankAt(partner),
        vectorRegion(blocks(given, count), valueBytes),
      );
      await communicator.send(
        rankAt(partner),
        vectorRegion(blocks(kept, count), valueBytes),
      );
      await received;
    }
    if (rank < 2 * folded) await communicator.send(rank - 1, region);
    return result;
  },
};

/** One step of the halving: which blocks this place keeps and which it gives away. */
interface Halving {
  readonly partner: number;
  readonly kept: number;
  readonly given: number;
  /** Blocks in either half. */
  readonly count: number;
}

function halvings(place: number, places: number): readonly Halving[] {
  const steps: Halving[] = [];
  let first = 0;
  for (let count = places / 2; count >= 1; count /= 2) {
    const upper = (place & count) !== 0;
    const kept = upper ? first + count : first;
    const given = upper ? first : first + count;
    steps.push({ partner: place ^ count, kept, given, count });
    first = kept;
  }
  return steps;
}

/** Blocks [first, first + count) of the vector in `parts` blocks. */
function blockVector(
  vector: Vector,
  parts: number,
  first: number,
  count: number,
  valueBytes: ValueBytes,
): Vector {
  const { start } = partRange(vector.length, parts, first);
  const last = partRange(vector.length, parts, first + count - 1);
  const length = last.start + last.length - start;
  return { offset: vector.offset + valueBytes * start, length };
}

/** Bytes that one rank sends, framing excluded: exact. */
export function rabenseifnerBytesSent(rank: number, shape: ExchangeShape): number {
  const { ranks, payloadBytes, valueBytes = 4 } = shape;
  const folded = foldedRanks(ranks);
  if (rank < 2 * folded && rank % 2 === 0) return payloadBytes;
  const place = rank < 2 * folded ? (rank - 1) / 2 : rank - folded;
  const vector = { offset: 0, length: payloadBytes / valueBytes };
  const blocks = (first: number, count: number): Vector =>
    blockVector(vector, ranks - folded, first, count, valueBytes);
  const bytes = halvings(place, ranks - folded).reduce(
    (sum, { kept, given, count }) =>
      sum +
      valueBytes * blocks(kept, count).length +
      valueBytes * blocks(given, count).length,
    0,
  );
  return rank < 2 * folded ? bytes + payloadBytes : bytes;
}
