/**
 * Sparse ring: reduce-scatter, then allgather, around the ring of ranks, of sparse
 * streams. Part p of the range of indices starts at rank p and is merged in the order
 * p, p + 1, …, p − 1 (mod P), which does not depend on arrival.
 *
 * Cost: 2(P−1)·α + Σₛ |union of s ranks|/P·8β for s = 1 … P−1, + (P−1)/P·K·8β; a part
 * that reaches its δ continues dense. A rank sends to one neighbour only. It has the most
 * steps of all collectives, so it is for few ranks.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 6, the ring of sparse streams that
 * it compares with.
 */
import { messageSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import {
  assembledSeconds,
  mergedSeconds,
  partOf,
  splitSeconds,
  unionBytes,
  unionOf,
} from './fill-in.ts';
import { crossingRing } from './node-links.ts';
import { partRange, partRanges } from './partition.ts';
import {
  assembled,
  merged,
  unframed,
  framed,
  split,
  streamCapacity,
  STREAM_HEADER_BYTES,
  type Stream,
} from './sparse-stream.ts';
import { StreamSlots } from './stream-slots.ts';

export const sparseRing: CollectiveDefinition = {
  id: 'sparse-ring',
  code: 8,
  title: 'Sparse ring',
  summary: 'Sparse parts merged around a ring: one neighbour only, 2(P−1) steps.',
  source: 'SparCML (Renggli et al., SC 2019), section 6',
  formula: '2(P−1)·α + Σₛ |union of s ranks|/P·8β + (P−1)/P·K·8β',
  suits: 'Few ranks: it has the most steps.',
  takes: ['sparse'],
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    const own = unionOf(shape, 1) / ranks;
    const merging = travelling(shape).reduce(
      (sum, united) =>
        sum +
        mergedSeconds(
          unionOf(shape, united) / ranks,
          own,
          partOf(shape, ranks),
          network,
        ),
      0,
    );
    const messages = travelling(shape).reduce(
      (sum, united) =>
        sum +
        messageSeconds(network, unionBytes(shape, united, ranks)) +
        messageSeconds(network, unionBytes(shape, ranks, ranks)),
      0,
    );
    return (
      messages +
      splitSeconds(shape, network) +
      merging +
      assembledSeconds(shape, network)
    );
  },
  wireBytes: sentBytes,
  crossing: (shape, places) => crossingRing(sentBytes(shape), places),
  run: runSparseRing,
};

/** Bytes that each rank sends, all of them to the next one. */
function sentBytes(shape: ExchangeShape): number {
  const { ranks } = shape;
  return travelling(shape).reduce(
    (sum, united) =>
      sum + unionBytes(shape, united, ranks) + unionBytes(shape, ranks, ranks),
    0,
  );
}

/** Number of ranks whose entries a part has, each time that it is sent to be merged. */
const travelling = ({ ranks }: ExchangeShape): readonly number[] =>
  Array.from({ length: ranks - 1 }, (_, step) => step + 1);

async function runSparseRing(
  communicator: Communicator,
  payload: Payload,
): Promise<Combined> {
  const { rank, size } = communicator;
  if (size === 1 && payload.kind === 'sparse') {
    return { form: 'sparse', count: payload.count, data: payload.data };
  }
  const { length } = payload;
  const next = (rank + 1) % size;
  const previous = (rank + size - 1) % size;
  const own = communicator.reduce(() =>
    split(communicator, payload, partRanges(payload.length, size)),
  );
  const at = (index: number): number => (index + 2 * size) % size;
  // The last part is the longest.
  const slots = new StreamSlots(communicator, partRange(length, size, size - 1).length);
  let stream = own[rank]!;
  for (let step = 1; step < size; step++) {
    const sent = communicator.send(next, framed(communicator, stream));
    const index = at(rank - step);
    const range = partRange(length, size, index);
    const region = await communicator.receiveSized(
      previous,
      streamCapacity(range.length, communicator.valueBytes),
      () => slots.free(stream),
    );
    // The merge may reuse the slot of what was sent.
    await sent;
    stream = communicator.reduce(() => {
      const partial = unframed(communicator, region, range, previous);
      const mine = own[index]!;
      return merged(communicator, partial, mine, slots.free(partial, mine).offset);
    });
  }
  const parts = await relay(communicator, stream, length);
  return communicator.reduce(() => assembled(communicator, parts));
}

/**
 * Sends the finished parts around the ring, each to its own place; returns all parts, in
 * order.
 */
async function relay(
  communicator: Communicator,
  own: Stream,
  length: number,
): Promise<readonly Stream[]> {
  const { rank, size, valueBytes } = communicator;
  const next = (rank + 1) % size;
  const previous = (rank + size - 1) % size;
  const scratch = communicator.scratch(
    'gathered parts',
    valueBytes * length + size * STREAM_HEADER_BYTES,
  );
  const parts: Stream[] = [];
  parts[next] = own;
  // In the order of the steps; all are posted at the start.
  const arrivals = Array.from({ length: size - 1 }, (_, step) => {
    const index = (rank - step + size) % size;
    const range = partRange(length, size, index);
    const offset =
      scratch.offset + valueBytes * range.start + index * STREAM_HEADER_BYTES;
    const maximum = streamCapacity(range.length, valueBytes);
    const region = communicator.receiveSized(previous, maximum, (bytes) => ({
      offset,
      bytes,
    }));
    return { index, range, region };
  });
  const sends = [communicator.send(next, framed(communicator, own))];
  for (const [step, { index, range, region: arriving }] of arrivals.entries()) {
    const region = await arriving;
    if (step < size - 2) sends.push(communicator.send(next, region));
    parts[index] = communicator.reduce(() =>
      unframed(communicator, region, range, previous),
    );
  }
  await Promise.all(sends);
  return parts;
}
