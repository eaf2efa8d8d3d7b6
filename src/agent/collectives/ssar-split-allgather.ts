/**
 * Static sparse allreduce by splitting: rank j reduces part j of the range of indices,
 * then all gather the reduced parts, which are disjoint, and concatenate them. Less is
 * sent and merged than by recursive doubling, in more messages: for large k.
 *
 * Cost: L₂ + 2(P−1)/P·k·8β where all indices are the same, up to L₂ + P·k·8β where none
 * is, L₂ = (P−1)·α + ⌈log₂P⌉·α; a part that reaches its δ continues dense.
 *
 * A part is reduced by one rank alone, as a tree over the ranks: all get the same bits.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3.2.
 */
import { burstSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { blockRounds, blockRoundSeconds } from './doubling-blocks.ts';
import {
  assembledSeconds,
  entriesPerRank,
  mergedTreeSeconds,
  splitSeconds,
  unionBytes,
} from './fill-in.ts';
import { partRange } from './partition.ts';
import {
  assembled,
  mergedTree,
  opened,
  sealed,
  sealedBytes,
  streamBytes,
  streamCapacity,
  STREAM_HEADER_BYTES,
  type Stream,
} from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';

export const ssarSplitAllgather: CollectiveDefinition = {
  id: 'ssar-split-allgather',
  code: 6,
  title: 'Sparse split and allgather',
  summary: 'Each rank merges one part of the indices; the sparse parts are gathered.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3.2',
  takes: ['sparse'],
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    return (
      burstSeconds(network, ranks - 1, ownPartBytes(shape)) +
      blockRoundSeconds(network, ranks, unionBytes(shape, ranks, ranks)) +
      splitSeconds(shape, network) +
      mergedTreeSeconds(shape, ranks, network) +
      assembledSeconds(shape, network)
    );
  },
  wireBytes: (shape) => {
    const { ranks } = shape;
    return (ranks - 1) * (ownPartBytes(shape) + unionBytes(shape, ranks, ranks));
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    if (communicator.size === 1 && payload.kind === 'sparse') {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const contributions = await exchangeParts(communicator, payload);
    const own = communicator.reduce(() => mergedTree(communicator, contributions));
    const parts = await gatherParts(communicator, own, payload.length);
    return communicator.reduce(() => assembled(communicator, parts));
  },
};

/** What a rank brings to one part. */
const ownPartBytes = (shape: ExchangeShape): number => {
  const { ranks, length, valueBytes = 4 } = shape;
  return streamBytes(entriesPerRank(shape) / ranks, length / ranks, valueBytes);
};

/**
 * All ranks' parts, in order. They are appended to each other in the order in which the
 * rounds bring them, so that what the next round sends is one piece.
 */
async function gatherParts(
  communicator: Communicator,
  own: Stream,
  length: number,
): Promise<readonly Stream[]> {
  const { arena, rank, size, valueBytes } = communicator;
  const rangeOf = (index: number) => partRange(length, size, index);
  const scratch = communicator.scratch(
    'gathered parts',
    valueBytes * length + size * STREAM_HEADER_BYTES,
  );
  const parts: Stream[] = [];
  /** Where the blocks end, by how many there are. */
  const ends = [scratch.offset];
  const append = (index: number, stream: Stream, bytes: number): void => {
    parts[index] = stream;
    ends.push(ends.at(-1)! + bytes);
  };
  const { offset, bytes } = sealed(communicator, own);
  arena.u8(scratch.offset, bytes).set(arena.u8(offset, bytes));
  append(rank, { ...own, offset: scratch.offset + STREAM_HEADER_BYTES }, bytes);
  const sends: Promise<void>[] = [];
  for (const { to, from, sent, received } of blockRounds(rank, size)) {
    const prefix = ends[sent.length]! - scratch.offset;
    sends.push(communicator.send(to, { offset: scratch.offset, bytes: prefix }));
    const maximum = received.reduce(
      (sum, index) => sum + streamCapacity(rangeOf(index).length, valueBytes),
      0,
    );
    const end = ends.at(-1)!;
    const region = await communicator.receiveSized(from, maximum, (arriving) => ({
      offset: end,
      bytes: arriving,
    }));
    communicator.reduce(() => {
      let left = region;
      for (const [place, index] of received.entries()) {
        const more = place < received.length - 1;
        const stream = opened(communicator, left, rangeOf(index), from, more);
        const used = sealedBytes(stream, valueBytes);
        append(index, stream, used);
        left = { offset: left.offset + used, bytes: left.bytes - used };
      }
    });
  }
  await Promise.all(sends);
  return parts;
}
