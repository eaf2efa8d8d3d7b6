/**
 * Dynamic sparse allreduce: rank j reduces part j of the range of indices as a dense
 * vector, then all gather the dense parts. For results so filled in that pairs would be
 * longer than elements: it takes at least half as long as the best dense allreduce,
 * whatever k is.
 *
 * Cost: at most L₂ + k·8β + (P−1)/P·N·4β, L₂ = (P−1)·α + ⌈log₂P⌉·α (a round that wraps
 * around the end of the vector sends two pieces).
 *
 * A part is reduced by one rank alone, in rank order: all ranks get the same bits. The
 * result is dense whatever its fill-in. If the exchange is quantised, the second phase
 * sends the reduced part with b bits per element, randomly rounded and unbiased: with d
 * values per scale, (P−1)/P·N·(b/8 + 4/d)·β instead of the last term, or with floats of 8
 * bits (P−1)/P·N·(1 + 1/32)·β. Floats of 16 bits are rounded to nearest: (P−1)/P·N·2β.
 *
 * Source: SparCML (Renggli et al., SC 2019), section 5.3.3.
 */
import { burstSeconds, scatterSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { gatherParts } from './allgather.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { blockRoundSeconds } from './doubling-blocks.ts';
import { entriesPerRank, splitSeconds } from './fill-in.ts';
import { part, partRange } from './partition.ts';
import { vectorRegion } from './payload-region.ts';
import { codingCost, gatherQuantizedParts, quantizedBytes } from './quantized-parts.ts';
import { streamBytes } from './sparse-stream.ts';
import { exchangeParts } from './split-exchange.ts';

export const dsarSplitAllgather: CollectiveDefinition = {
  id: 'dsar-split-allgather',
  code: 7,
  title: 'Dense split and allgather',
  summary: 'Each rank sums one part of the indices; the dense parts are gathered.',
  source: 'SparCML (Renggli et al., SC 2019), section 5.3.3',
  formula: 'at most (P−1)·α + ⌈log₂P⌉·α + k·8β + (P−1)/P·N·4β',
  suits: 'Sums that fill in until they are dense.',
  takes: ['sparse'],
  quantizes: true,
  cost: (shape, network) => {
    const { ranks, length, quantization } = shape;
    if (ranks === 1) return 0;
    const quantizing =
      quantization === undefined ? 0 : codingCost(quantization, length / ranks, length);
    const { sparse, dense } = partBytes(shape);
    return (
      burstSeconds(network, ranks - 1, sparse) +
      blockRoundSeconds(network, ranks, dense) +
      splitSeconds(shape, network) +
      entriesPerRank(shape) * scatterSeconds(network) +
      (length / ranks) * network.gamma +
      quantizing * network.gamma
    );
  },
  wireBytes: (shape) => {
    const { sparse, dense } = partBytes(shape);
    return (shape.ranks - 1) * (sparse + dense);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { operation, rank, reduction, size, valueBytes } = communicator;
    if (size === 1 && payload.kind === 'sparse') {
      return { form: 'sparse', count: payload.count, data: payload.data };
    }
    const { length } = payload;
    const contributions = await exchangeParts(communicator, payload);
    const { offset } = communicator.scratch('dense parts', valueBytes * length);
    const vector = { offset, length };
    communicator.reduce(() => {
      const own = part(vector, size, rank, valueBytes);
      const { start } = partRange(length, size, rank);
      reduction.clear(operation, own);
      for (const stream of contributions) {
        if (stream.form === 'dense') reduction.combine(operation, own, stream);
        else reduction.scatter(operation, own, start, stream);
      }
    });
    const { quantization } = communicator;
    if (quantization === undefined) await gatherParts(communicator, vector);
    else await gatherQuantizedParts(communicator, vector, quantization);
    return { form: 'dense', data: vectorRegion(vector, valueBytes) };
  },
};

/** Bytes of one part: a rank's contribution, and the sum. */
function partBytes(shape: ExchangeShape): { sparse: number; dense: number } {
  const { ranks, length, valueBytes = 4, quantization } = shape;
  const size = length / ranks;
  return {
    sparse: streamBytes(entriesPerRank(shape) / ranks, size, shape),
    dense:
      quantization === undefined
        ? valueBytes * size
        : quantizedBytes(size, quantization),
  };
}
