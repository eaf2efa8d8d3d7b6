/**
 * ScaleCom: one rank, the leader t mod P, selects the indices of the largest elements of
 * its own p and broadcasts them; every rank sends its values there, which reduce densely:
 * 4·k bytes of indices, 4·k of values, no fill-in for any P. This works because the
 * residuals of the ranks are similar, and a low-pass filter keeps them so: p = m + ∇; m ←
 * (1−β)·m + β·(p − g), g being p at the indices; 0 < β ≤ 1.
 *
 * The residual kept here is r = m/β. In the paper's m the invariant is wᵗ −
 * (η/β)·avg(mᵗ) = w⁰ − η·Σ avg(∇); so r is the residual in gradient units, as for every
 * other method, and a switch of methods keeps or flushes it unchanged. In terms of r: p
 * = β·r + ∇; r ← (1−β)·r + p, minus p at the indices.
 *
 * The authors select from each chunk of the vector because that is fast on their GPUs. But
 * a chunk sends its share even if nothing in it matters (a pixel that is always 0), while
 * elements that matter wait; so the default is the bucket's largest.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), algorithm 1 and equation 5.
 */
import { z } from 'zod';
import type { IndexList } from '../kernels/sparsification.ts';
import type { Region } from '../memory/arena.ts';
import { sparseBytes } from '../memory/entries.ts';
import type { Entries } from '../work/selection.ts';
import { wait, type Steps } from '../work/steps.ts';
import { diagnosticsParameters } from './diagnostics.ts';
import { denseSum } from './expected-messages.ts';
import { adoptIndices, indexMessage, indexPayload } from './leader-indices.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Communicate,
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
  Similarity,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import {
  entriesSent,
  rampParameters,
  ratioParameters,
  shareLabel,
} from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { scatterAverage, valuesPayload } from './shared-entries.ts';
import { SimilarityProbe, similarityMessages } from './similarity.ts';
import { TopKSelection, topKEntries } from './topk-selection.ts';
import { RAMP, WARM_UP } from './policy/schedule.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  beta: z
    .number()
    .gt(0)
    .lte(1)
    .default(0.1)
    .describe('Low-pass filter of the residual, β; 1: plain error feedback'),
  selection: z
    .enum(['exact', 'chunk'])
    .default('exact')
    .describe('Select the leader’s largest elements of the bucket, or of each chunk'),
  chunk: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe(
      'Elements per chunk; 0: about 1/ratio, so that one entry of each chunk is sent',
    ),
  ...diagnosticsParameters,
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const scalecom: MethodDefinition<typeof parameters> = {
  id: 'scalecom',
  title: 'ScaleCom',
  summary: 'All ranks’ values at the indices that one rank selects; ranks take turns.',
  source: 'ScaleCom (Chen et al., NeurIPS 2020), algorithm 1',
  suits:
    'Slow links and many ranks: all send the same indices, so that sums do not fill in.',
  label: shareLabel,
  parameters,
  idle: [
    {
      parameter: 'chunk',
      beside: 'selection',
      when: ({ selection }) => selection === 'exact',
      instead: 'selection=chunk',
    },
  ],
  // Section 4: 400 times up to 128 FLOPs per element, 50 times up to 196, 25 times above; for
  // the interpretation see docs/decisions/057-rates-by-what-layers-compute.md.
  ratesByLayer: {
    share: 'ratio',
    rates: [
      { upTo: 128, rate: 400 },
      { upTo: 196, rate: 50 },
      { upTo: Infinity, rate: 25 },
    ],
    samples: 32,
    predictions: 4_500,
  },
  schedules: [RAMP, WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  agreesOn: 'the indices that one rank chooses for all in each exchange',
  replicas: 'identical',
  messages: (parameters, { length }) => {
    const chunk = chunkSize(parameters);
    const entries = topKEntries(length, {
      ratio: parameters.ratio,
      k: 0,
      bucket: chunk,
    });
    // The occasional measurement of similarity is not part of a usual exchange.
    const measures =
      parameters.diagnosticsEvery === 1 ? similarityMessages(length) : [];
    return [indexMessage(entries, length), ...measures, denseSum(entries)];
  },
  create: (context) => withWarmUp(new ScaleCom(context), context),
};

/** The share sent of a chunk may deviate from the ratio by this fraction of it. */
const TOLERANCE = 1 / 20;

/**
 * Elements of a chunk; 0 for one as large as the bucket. Default: the smallest from 1/ratio
 * up for which a whole number of entries is about the ratio. At ratio 0.7, two of each
 * three.
 */
export function chunkSize({
  selection,
  chunk,
  ratio,
}: Pick<Parameters, 'selection' | 'chunk' | 'ratio'>): number {
  if (selection === 'exact') return 0;
  if (chunk > 0) return chunk;
  let size = Math.max(1, Math.round(1 / ratio));
  // The search ends by 10/ratio, where half an entry is a twentieth of those sent.
  while (Math.abs(entriesSent(size, { ratio }) / size - ratio) > TOLERANCE * ratio) {
    size++;
  }
  return size;
}

class ScaleCom<V> implements Compressor<V> {
  readonly #context: CompressorContext<Parameters, V>;
  readonly #residual: V;
  readonly #selection: TopKSelection<V>;
  readonly #probe: SimilarityProbe<V> | undefined;

  constructor(context: CompressorContext<Parameters, V>) {
    const { parameters, residual } = context;
    if (residual === undefined)
      throw new Error('internal: scalecom without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#selection = new TopKSelection({
      ...context,
      parameters: { ...parameters, k: 0, bucket: chunkSize(parameters) },
    });
    if (parameters.diagnosticsEvery > 0) {
      this.#probe = new SimilarityProbe(context, this.#selection.capacity);
    }
  }

  *exchange(
    gradient: V,
    iteration: number,
    communicate: Communicate,
  ): Steps<ExchangeStatistics> {
    const { length, rank, work, world } = this.#context;
    const { selector } = this.#selection;
    const leader = iteration % world;
    this.#compensate(gradient);
    const own =
      rank === leader ? this.#selection.select(gradient, iteration, 'keep') : undefined;
    const list =
      own === undefined
        ? selector.list(this.#selection.count(iteration))
        : yield* wait(own.indices());
    const payload = indexPayload(list, length);
    const chosen = yield* wait(
      communicate({ operation: 'broadcast', root: leader, payload }),
    );
    const entries = own ?? this.#adopt(list, chosen, leader);
    const similarity = yield* this.#compare(gradient, list, iteration, communicate);
    entries.gather(gradient);
    const values = entries.values();
    this.#keepBack(gradient, entries);
    const sums = yield* wait(
      communicate({ operation: 'reduce', payload: valuesPayload(yield* wait(values)) }),
    );
    const statistics = scatterAverage(work, entries, sums, gradient, world);
    return similarity === undefined ? statistics : { ...statistics, similarity };
  }

  /** The payload of a single rank: its own selection, as pairs. */
  *encode(gradient: V, iteration: number): Steps<Payload> {
    this.#compensate(gradient);
    const entries = this.#selection.select(gradient, iteration, 'keep');
    const stream = entries.stream();
    this.#keepBack(gradient, entries);
    const { count, offset } = yield* wait(stream);
    const data = { offset, bytes: sparseBytes(count) };
    return { kind: 'sparse', length: this.#context.length, count, data };
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { work, world } = this.#context;
    return work.average(combined, out, world);
  }

  parse(data: Region): Payload {
    const { length, work } = this.#context;
    return parseSparse(scalecom.id, work.arena, data, length);
  }

  /**
   * The ranks' similarity, from p and the previous residual, in the iterations that measure
   * it.
   */
  *#compare(
    p: V,
    chosen: IndexList,
    iteration: number,
    communicate: Communicate,
  ): Steps<Similarity | undefined> {
    const { diagnosticsEvery } = this.#context.parameters;
    if (this.#probe === undefined || (iteration + 1) % diagnosticsEvery !== 0) return;
    return yield* this.#probe.observe(this.#residual, p, chosen, communicate);
  }

  /** p = β·r + ∇, in the gradient's memory. */
  #compensate(gradient: V): void {
    const { parameters, work } = this.#context;
    work.blend(gradient, 1, this.#residual, parameters.beta);
  }

  /** r ← (1−β)·r + p, minus p at the indices, where p is cleared. */
  #keepBack(p: V, entries: Entries<V>): void {
    const { parameters, work } = this.#context;
    entries.clearIn(p);
    work.blend(this.#residual, 1 - parameters.beta, p, 1);
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the leader */
  #adopt(list: IndexList, chosen: Combined, leader: number): Entries<V> {
    const { length, work } = this.#context;
    adoptIndices(work.arena, list, chosen, { method: scalecom.id, leader, length });
    return this.#selection.selector.named(list.count);
  }
}
