/**
 * Static sparse allreduce by splitting: rank j reduces part j of the range of indices,
 * then all gather the reduced parts, which are disjoint. It sends and merges less than
 * recursive doubling, but in more messages: for large k.
 *
 * Cost: L₂ + 2(P−1)/P·k·8β if all ranks have the same indices, up to L₂ + P·k·8β if no
 * two share any, L₂ = (P−1)·α plus the gather's messages (`part-gather.ts`); a part that
 * reaches its δ continues dense.
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
import {
  assembledSeconds,
  entriesPerRank,
  mergedTreeSeconds,
  splitSeconds,
  unionBytes,
} from './fill-in.ts';
import { gatherParts, partGatherSeconds } from './part-gather.ts';
import { assembled, mergedTree, streamBytes, type Stream } from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';

export const ssarSplitAllgather: CollectiveDefinition = {
  id: 'ssar-split-allgather',
  code: 6,
  title: 'Sparse split and allgather',
  summary: 'Each rank merges one part of the indices; the sparse parts are gathered.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3.2',
  formula:
    'L₂ + 2(P−1)/P·k·8β, up to L₂ + P·k·8β, with L₂ = (P−1)·α and the messages of the gather',
  suits: 'Many entries.',
  takes: ['sparse'],
  cost: (shape, network) => {
    const { ranks } = shape;
    if (ranks === 1) return 0;
    return (
      burstSeconds(network, ranks - 1, ownPartBytes(shape)) +
      partGatherSeconds(network, ranks, unionBytes(shape, ranks, ranks)) +
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
    const exchanged = exchangeParts(communicator, payload);
    const reduced = async (): Promise<Stream> => {
      const contributions = await exchanged;
      return communicator.reduce(() => mergedTree(communicator, contributions));
    };
    const parts = await gatherParts(communicator, payload.length, reduced());
    return communicator.reduce(() => assembled(communicator, parts));
  },
};

/** Bytes of a rank's contribution to one part. */
const ownPartBytes = (shape: ExchangeShape): number => {
  const { ranks, length } = shape;
  return streamBytes(entriesPerRank(shape) / ranks, length / ranks, shape);
};
