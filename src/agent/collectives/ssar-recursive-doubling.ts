/**
 * Static sparse allreduce by recursive doubling: in round t every rank swaps its stream
 * with the rank at distance 2^t and merges. Fewest messages: for small k or P.
 *
 * Cost: L₁ + log₂P·k·8β if all ranks have the same indices, L₁ + (P−1)·k·8β if no two
 * share any, L₁ = log₂P·α; a stream that reaches δ continues dense, 4N bytes. For any
 * other P, r = P − 2^⌊log₂P⌋ pairs fold before and unfold after: two more messages.
 *
 * The order of reduction is a fixed tree over the ranks; both sides of a swap merge the
 * same two streams, and entries combine the same either way: all ranks get the same bits.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3.1.
 */
import { awaitedElsewhere } from '../../shared/async/awaited-elsewhere.ts';
import { messageSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { mergedSeconds, unionBytes, unionOf, unitedPerRound } from './fill-in.ts';
import { foldedRanks } from './folding.ts';
import { crossingSwaps, doublingDistances } from './node-links.ts';
import { partRanges } from './partition.ts';
import {
  asCombined,
  merged,
  unframed,
  framed,
  split,
  streamCapacity,
  type Stream,
} from './sparse-stream.ts';
import { StreamSlots } from './stream-slots.ts';

export const ssarRecursiveDoubling: CollectiveDefinition = {
  id: 'ssar-recursive-doubling',
  code: 5,
  title: 'Sparse recursive doubling',
  summary:
    'Sparse streams exchanged and merged at doubling distances: fewest messages.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3.1',
  formula: 'log₂P·α + log₂P·k·8β, up to log₂P·α + (P−1)·k·8β',
  suits: 'Few entries, or few ranks.',
  takes: ['sparse'],
  cost: (shape, network) => {
    const merging = (united: number): number => {
      const entries = unionOf(shape, united);
      return mergedSeconds(entries, entries, shape, network);
    };
    const swaps = unitedPerRound(shape).map(
      (united) => messageSeconds(network, unionBytes(shape, united)) + merging(united),
    );
    const total = swaps.reduce((sum, swap) => sum + swap, 0);
    if (foldedRanks(shape.ranks) === 0) return total;
    const folding = [1, shape.ranks].map((united) =>
      messageSeconds(network, unionBytes(shape, united)),
    );
    return total + folding[0]! + folding[1]! + merging(1);
  },
  wireBytes: (shape: ExchangeShape) => {
    const swapped = unitedPerRound(shape).map((united) => unionBytes(shape, united));
    // A rank that sends a folded rank its result sends the most.
    const unfolding = foldedRanks(shape.ranks) > 0 ? unionBytes(shape, shape.ranks) : 0;
    return swapped.reduce((sum, bytes) => sum + bytes, unfolding);
  },
  crossing: (shape, places) => {
    const united = unitedPerRound(shape);
    const swaps = doublingDistances(shape.ranks).map((distance, round) => ({
      distance,
      bytes: unionBytes(shape, united[round]!),
    }));
    const before = unionBytes(shape, 1);
    const after = unionBytes(shape, shape.ranks);
    return crossingSwaps(swaps, { before, after }, places);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    if (communicator.size === 1 && payload.kind === 'sparse') {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const [own] = communicator.reduce(() =>
      split(communicator, payload, partRanges(payload.length, 1)),
    ) as [Stream];
    const stream = await mergeByDoubling(communicator, own);
    return asCombined(stream, communicator.valueBytes);
  },
};

/**
 * Merges all ranks' streams of one range; the result is the same on all ranks. Consumes
 * this rank's stream.
 */
export async function mergeByDoubling(
  communicator: Communicator,
  own: Stream,
): Promise<Stream> {
  const { rank, size, valueBytes } = communicator;
  const { start, length } = own;
  const slots = new StreamSlots(communicator, length);
  const receive = async (from: number, beside: Stream): Promise<Stream> => {
    const region = await communicator.receiveSized(
      from,
      streamCapacity(length, valueBytes),
      () => slots.free(beside),
    );
    return communicator.reduce(() =>
      unframed(communicator, region, { start, length }, from),
    );
  };
  const merge = (lower: Stream, upper: Stream): Stream =>
    communicator.reduce(() =>
      merged(communicator, lower, upper, slots.free(lower, upper).offset),
    );
  let stream = own;
  const folded = foldedRanks(size);
  if (rank < 2 * folded && rank % 2 === 0) {
    // This rank sends its stream to its neighbour, which returns the result.
    await communicator.send(rank + 1, framed(communicator, stream));
    return await receive(rank + 1, stream);
  }
  if (rank < 2 * folded) stream = merge(await receive(rank - 1, stream), stream);
  // Ranks that take part in the rounds, renumbered without gaps.
  const place = rank < 2 * folded ? (rank - 1) / 2 : rank - folded;
  for (let distance = 1; distance < size - folded; distance *= 2) {
    const partnerPlace = place ^ distance;
    const partner =
      partnerPlace < folded ? 2 * partnerPlace + 1 : partnerPlace + folded;
    const arrival = receive(partner, stream);
    arrival.catch(awaitedElsewhere);
    // Merging consumes the stream, so its send must have completed.
    await communicator.send(partner, framed(communicator, stream));
    const theirs = await arrival;
    const [lower, upper] = place < partnerPlace ? [stream, theirs] : [theirs, stream];
    stream = merge(lower, upper);
  }
  if (rank < 2 * folded) {
    await communicator.send(rank - 1, framed(communicator, stream));
  }
  return stream;
}
