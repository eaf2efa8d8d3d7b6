/**
 * Dynamic sparse allreduce: rank j reduces part j of the range of indices as a dense
 * vector, then all gather the dense parts. For results so filled in that pairs would be
 * longer than elements: at least half as long as the best dense allreduce, whatever k.
 *
 * Cost: at most L₂ + k·8β + (P−1)/P·N·4β, L₂ = (P−1)·α + ⌈log₂P⌉·α (a round that wraps
 * around the end of the vector sends two pieces).
 *
 * A part is reduced by one rank alone, in rank order: all ranks get the same bits. The
 * result is dense whatever its fill-in.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3.3.
 */
import { scatterSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../compression/method.ts';
import type { Region } from '../kernels/arena.ts';
import type { CollectiveDefinition, Communicator } from './collective.ts';
import { blockRounds } from './doubling-blocks.ts';
import { entriesPerRank, splitSeconds } from './fill-in.ts';
import { partRange, streamBytes } from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';

export const dsarSplitAllgather: CollectiveDefinition = {
  id: 'dsar-split-allgather',
  code: 7,
  title: 'Dense split and allgather',
  summary: 'Each rank sums one part of the indices; the parts are gathered, dense.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3.3',
  takes: ['sparse'],
  cost: (shape, network) => {
    const { ranks, length } = shape;
    if (ranks === 1) return 0;
    const messages = ranks - 1 + Math.ceil(Math.log2(ranks));
    return (
      messages * network.alpha +
      dsarSplitAllgather.wireBytes(shape) * network.beta +
      splitSeconds(shape, network) +
      entriesPerRank(shape) * scatterSeconds(network) +
      (length / ranks) * network.gamma
    );
  },
  wireBytes: (shape) => {
    const { ranks, length } = shape;
    const part = streamBytes(entriesPerRank(shape) / ranks, length / ranks);
    return (ranks - 1) * (part + (4 * length) / ranks);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { kernels, operation, rank, size } = communicator;
    if (size === 1 && payload.kind === 'sparse') {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const { length } = payload;
    const contributions = await exchangeParts(communicator, payload);
    const { offset } = communicator.scratch('dense parts', 4 * length);
    const range = partRange(length, size, rank);
    communicator.reduce(() => {
      const part = { offset: offset + 4 * range.start, length: range.length };
      kernels.reduction.clear(operation, part);
      for (const stream of contributions) {
        if (stream.form === 'dense') kernels.reduction.combine(operation, part, stream);
        else kernels.reduction.scatter(operation, part, range.start, stream);
      }
    });
    const data = { offset, bytes: 4 * length };
    await gatherDense(communicator, data, length);
    return { form: 'dense', data };
  },
};

/** Every rank's part of the vector to every rank, each straight to where it belongs. */
async function gatherDense(
  communicator: Communicator,
  data: Region,
  length: number,
): Promise<void> {
  const { rank, size } = communicator;
  const sends: Promise<void>[] = [];
  for (const { to, from, sent, received } of blockRounds(rank, size)) {
    for (const piece of pieces(sent, data, length, size)) {
      sends.push(communicator.send(to, piece));
    }
    await Promise.all(
      pieces(received, data, length, size).map((piece) =>
        communicator.receive(from, piece),
      ),
    );
  }
  await Promise.all(sends);
}

/** Blocks that follow one another around the vector, as one run of bytes or as two. */
export function pieces(
  blocks: readonly number[],
  data: Region,
  length: number,
  ranks: number,
): readonly Region[] {
  const runs: Region[] = [];
  for (const block of blocks) {
    const range = partRange(length, ranks, block);
    const offset = data.offset + 4 * range.start;
    const bytes = 4 * range.length;
    const last = runs.at(-1);
    if (last !== undefined && last.offset + last.bytes === offset) {
      runs[runs.length - 1] = { offset: last.offset, bytes: last.bytes + bytes };
    } else runs.push({ offset, bytes });
  }
  return runs.filter(({ bytes }) => bytes > 0);
}
