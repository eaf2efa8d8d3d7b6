/**
 * Scatter–reduce–allgather: every rank sums one part of the vector, which all send it
 * directly, then the parts are gathered. Half as many messages wait for one another as in
 * a ring; and if the exchange is quantised, a value is rounded twice, whatever P is: once
 * on its way to the part's owner, once as the sum.
 *
 * Cost: (P−1)·α + ⌈log₂P⌉·α + 2(P−1)/P·N·4β + (P−1)/P·N·γ. Quantised to b bits with d
 * values per scale, 2(P−1)/P·N·(b/8 + 4/d)·β, as floats of 16 bits 2(P−1)/P·N·2β or of 8
 * 2(P−1)/P·N·(1 + 1/32)·β, plus coding. Exact bytes of the busiest rank, with q(n) the bytes
 * of a part (4n, 4·⌈n/d⌉ + 4·⌈n·b/32⌉, 2n, or 4·⌈⌈n/32⌉/4⌉ + 4·⌈n/4⌉), s = ⌊N/P⌋ and ℓ the
 * length of the last part: 2(P−1)·q(s) + ⌈log₂P⌉·(q(ℓ) − q(s)).
 *
 * A part is summed by one rank alone, in rank order, and all decode the same bytes of it:
 * all ranks get the same bits. Sums in levels or in floats of 8 bits are unbiased: the
 * expectation of a rounded value is the value. Floats of 16 bits are the nearest: either
 * rounding is off by at most half a step of the format. In a world of one nothing is sent or rounded.
 *
 * Source: QSGD (Alistarh et al., NeurIPS 2017), section 4; the dense form is the direct
 * algorithm of Thakur, Rabenseifner and Gropp (2005), section 4.
 */
import { burstSeconds } from '../../shared/cost-model/network-cost.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { gatherParts } from './allgather.ts';
import type {
  CollectiveDefinition,
  Communicator,
  ExchangeShape,
} from './collective.ts';
import { blockRoundSeconds } from './doubling-blocks.ts';
import { partRange } from './partition.ts';
import { payloadVector, vectorRegion, wantsAverage } from './payload-region.ts';
import { codingCost, gatherQuantizedParts, quantizedBytes } from './quantized-parts.ts';
import { reduceScatter } from './reduce-scatter.ts';
import { treeDepth } from './folding.ts';

export const scatterReduceAllgather: CollectiveDefinition = {
  id: 'scatter-reduce-allgather',
  code: 9,
  title: 'Scatter, reduce, allgather',
  summary:
    'Each rank sums one part sent directly by all others; exact, or quantised twice.',
  source: 'QSGD (Alistarh et al., NeurIPS 2017), section 4',
  formula: '(P−1)·α + ⌈log₂P⌉·α + 2(P−1)/P·N·4β + (P−1)/P·N·γ',
  suits: 'Large vectors, and sums that are quantised on their way.',
  takes: ['dense'],
  quantizes: true,
  cost: (shape, network) => {
    const { ranks, length, quantization } = shape;
    if (ranks === 1) return 0;
    const share = ((ranks - 1) / ranks) * length;
    const work =
      quantization === undefined
        ? share
        : codingCost(quantization, share + length / ranks, share + length);
    const bytes = partBytes(length / ranks, shape);
    return (
      burstSeconds(network, ranks - 1, bytes) +
      blockRoundSeconds(network, ranks, bytes) +
      work * network.gamma
    );
  },
  wireBytes: (shape) => {
    const { ranks, length } = shape;
    const short = partBytes(partRange(length, ranks, 0).length, shape);
    const last = partBytes(partRange(length, ranks, ranks - 1).length, shape);
    // The last rank's own part, the longest, is the one that it sends in every round.
    return 2 * (ranks - 1) * short + treeDepth(ranks) * (last - short);
  },
  run: async (communicator: Communicator, payload: Payload): Promise<Combined> => {
    const { kernels, quantization, size, valueBytes } = communicator;
    const vector = payloadVector(payload, valueBytes);
    const data = vectorRegion(vector, valueBytes);
    if (size === 1) return { form: 'dense', data };
    const own = await reduceScatter.run(communicator, vector);
    if (quantization !== undefined) {
      await gatherQuantizedParts(communicator, vector, quantization);
      return { form: 'dense', data };
    }
    const averaged = wantsAverage(communicator, payload);
    if (averaged) {
      communicator.reduce(() => {
        kernels.scale(own, 1 / size);
      });
    }
    await gatherParts(communicator, vector);
    return { form: 'dense', data, averaged };
  },
};

function partBytes(
  length: number,
  { quantization, valueBytes = 4 }: ExchangeShape,
): number {
  return quantization === undefined
    ? valueBytes * length
    : quantizedBytes(length, quantization);
}
