/**
 * Records of the ranks' similarity under a sparsifier with error feedback: how well a rank's own choice
 * stands for that of all. Beside the measures of `similarity.ts`, the distance of SparCML's analysis: with
 * p of a rank, from which it chooses, ∇ its gradient and averages over ranks,
 *
 *     selection distance   ‖TopK(avg p) − avg TopK(p)‖/‖avg ∇‖, ξ
 *
 * Training with top-k converges where ξ is bounded. Measuring costs three dense reductions.
 *
 * Source: SparCML (Renggli et al., SC 2019), appendix C, assumption C.2.
 */
import { z } from 'zod';
import type { SparseStream } from '../memory/entries.ts';
import type { Payload } from '../memory/payload.ts';
import { isSteps, wait, type Steps } from '../work/steps.ts';
import { denseSum } from './expected-messages.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  ExpectedMessage,
} from './method.ts';
import { SimilarityProbe, similarityMessages } from './similarity.ts';

export const diagnosticsParameters = {
  diagnosticsEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations between records of the ranks’ similarity; 0: none'),
};

interface Diagnostics {
  readonly diagnosticsEvery: number;
}

/** The messages of measuring, if every exchange has them. */
export const diagnosticsMessages = (
  { diagnosticsEvery }: Diagnostics,
  length: number,
): readonly ExpectedMessage[] =>
  diagnosticsEvery === 1 ? [...similarityMessages(length), denseSum(length)] : [];

/**
 * Measures in some of the compressor's exchanges.
 * @param compressor one whose payloads are summed: entries of its p as they are, of which the residual keeps
 * the others
 * @param capacity the most entries that it sends
 */
export function withDiagnostics<V>(
  compressor: Compressor<V>,
  context: CompressorContext<Diagnostics, V>,
  capacity: number,
): Compressor<V> {
  const { length, parameters, residual, work, world } = context;
  const { diagnosticsEvery } = parameters;
  if (diagnosticsEvery === 0) return compressor;
  if (residual === undefined)
    throw new Error('internal: diagnostics without a residual');
  const probe = new SimilarityProbe(context, capacity);
  const [kept, p] = [work.vector(length), work.vector(length)];
  const mean = work.vector(length);

  function* exchange(
    gradient: V,
    iteration: number,
    communicate: Communicate,
  ): Steps<ExchangeStatistics> {
    const measures = (iteration + 1) % diagnosticsEvery === 0;
    if (measures) {
      work.blend(kept, 0, residual!, 1);
      work.blend(mean, 0, gradient, 1);
    }
    const encoded = compressor.encode(gradient, iteration);
    const payload = isSteps(encoded) ? yield* encoded : encoded;
    if (!measures) return yield* finish(gradient, iteration, payload, communicate);
    const chosen = entriesOf(payload);
    // What is kept and what is sent: what has been added to the residual is the compressor's own.
    work.blend(p, 0, residual!, 1);
    work.scatterAdd(p, chosen, 1);
    const similarity = yield* probe.observe(kept, p, chosen, communicate);
    const norm = yield* probe.normOfSum(mean, communicate);
    const statistics = yield* finish(gradient, iteration, payload, communicate);
    const distance = yield* probe.distanceFromLargest(gradient, world);
    if (distance === undefined || norm === 0) return { ...statistics, similarity };
    const selectionDistance = distance / (norm / world);
    return { ...statistics, similarity: { ...similarity, selectionDistance } };
  }

  function* finish(
    gradient: V,
    iteration: number,
    payload: Payload,
    communicate: Communicate,
  ): Steps<ExchangeStatistics> {
    const combined = yield* wait(communicate({ operation: 'reduce', payload }));
    return compressor.decode(combined, gradient, iteration);
  }

  return {
    encode: (gradient, iteration) => compressor.encode(gradient, iteration),
    decode: (combined, out, iteration) => compressor.decode(combined, out, iteration),
    exchange,
    parse: (data, iteration) => compressor.parse(data, iteration),
    state: compressor.state,
  };
}

/** The entries of a sparse payload, which begins with their indices. */
function entriesOf(payload: Payload): SparseStream {
  if (payload.kind !== 'sparse')
    throw new Error('internal: what was sent is not sparse');
  return { offset: payload.data.offset, count: payload.count };
}
