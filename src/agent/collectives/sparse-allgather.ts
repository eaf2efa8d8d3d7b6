/**
 * Sparse allgather: every rank gets all sparse payloads and adds them up locally. Few
 * messages and no rounds, but every rank receives everything: for small P or k.
 *
 * Cost: (P−1)·α + (P−1)·k·8β, then at most ⌈log₂P⌉·P·k entries to merge, or P·k to
 * scatter into N elements once dense.
 *
 * Streams are merged pairwise in rank order, a fixed tree. If |H₁| + … + |H_P| ≥ δ the
 * sparse form no longer pays, and they are scattered into a dense vector, in rank order;
 * δ as in `delta.ts`. All ranks see the same counts, take the same branch and get the same
 * bits. The two forms add in a different order, so another δ may round sums of three or
 * more ranks differently.
 *
 * Source: SparCML (Renggli et al., SC 2019), sections 5.1 and 5.3.
 */
import {
  burstSeconds,
  mergeSeconds,
  scatterSeconds,
} from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { sparseBytes, type SparseStream } from '../memory/entries.ts';
import type { ValueBytes } from '../memory/value-type.ts';
import type { CollectiveDefinition, Communicator } from './collective.ts';
import { reachesDelta } from './delta.ts';
import { entriesPerRank, unionOf } from './fill-in.ts';
import { gatherPayloads } from './gather.ts';
import { vectorRegion } from './payload-region.ts';

export const sparseAllgather: CollectiveDefinition = {
  id: 'sparse-allgather',
  code: 3,
  title: 'Sparse allgather',
  summary: 'Every rank gets all sparse payloads and merges them in rank order.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3',
  formula: '(P−1)·α + (P−1)·k·8β',
  suits: 'Few ranks, or few entries: every rank receives everything.',
  takes: ['sparse'],
  cost: (shape, network) => {
    const { ranks, length, payloadBytes } = shape;
    if (ranks === 1) return 0;
    const entries = ranks * entriesPerRank(shape);
    const gathering = burstSeconds(network, ranks - 1, payloadBytes);
    if (reachesDelta(entries, length, shape)) {
      return gathering + entries * scatterSeconds(network) + length * network.gamma;
    }
    let merged = 0;
    for (let united = 1; united < ranks; united *= 2) {
      merged += (ranks / united) * unionOf(shape, united);
    }
    return gathering + merged * mergeSeconds(network);
  },
  wireBytes: ({ ranks, payloadBytes }) => (ranks - 1) * payloadBytes,
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    if (payload.kind !== 'sparse') {
      throw new Error(`internal: sparse-allgather of a ${payload.kind} payload`);
    }
    const { size, valueBytes } = communicator;
    const payloads = await gatherPayloads(communicator, payload);
    const streams = payloads.map(streamOf);
    if (size === 1) return sparse(streams[0]!, valueBytes);
    const entries = streams.reduce((sum, { count }) => sum + count, 0);
    return communicator.reduce(() =>
      reachesDelta(entries, payload.length, communicator)
        ? scatter(communicator, streams, payload.length)
        : sparse(merge(communicator, streams, entries), valueBytes),
    );
  },
};

function scatter(
  communicator: Communicator,
  streams: readonly SparseStream[],
  length: number,
): Combined {
  const { operation, reduction, valueBytes } = communicator;
  const { offset } = communicator.scratch(
    'sparse-allgather dense',
    valueBytes * length,
  );
  const sum = { offset, length };
  reduction.clear(operation, sum);
  for (const stream of streams) reduction.scatter(operation, sum, 0, stream);
  return { form: 'dense', data: vectorRegion(sum, valueBytes) };
}

/** Neighbours merge, then their results, level by level, between two scratches. */
function merge(
  communicator: Communicator,
  streams: readonly SparseStream[],
  entries: number,
): SparseStream {
  const { operation, reduction, valueBytes } = communicator;
  let level = streams;
  for (let depth = 0; level.length > 1; depth++) {
    const scratch = communicator.scratch(
      `sparse-allgather merged ${depth % 2}`,
      sparseBytes(entries, valueBytes),
    );
    const merged: SparseStream[] = [];
    let offset = scratch.offset;
    for (let left = 0; left < level.length; left += 2) {
      const a = level[left]!;
      const b = level[left + 1] ?? { offset: a.offset, count: 0 };
      const bytes = sparseBytes(a.count + b.count, valueBytes);
      // The odd one out is merged with nothing: it moves on with its level.
      merged.push(reduction.merge(operation, a, b, { offset, bytes }));
      offset += bytes;
    }
    level = merged;
  }
  return level[0]!;
}

function streamOf(payload: Payload): SparseStream {
  if (payload.kind !== 'sparse') throw new Error('internal: not a sparse payload');
  return { offset: payload.data.offset, count: payload.count };
}

function sparse({ offset, count }: SparseStream, valueBytes: ValueBytes): Combined {
  const bytes = sparseBytes(count, valueBytes);
  return { form: 'sparse', count, data: { offset, bytes } };
}
