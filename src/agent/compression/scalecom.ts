/**
 * ScaleCom: one rank, the leader t mod P, selects the indices of the largest entries of
 * its own p and broadcasts them; every rank sends its values there, which reduce densely:
 * 4·k bytes of indices, 4·k of values, no fill-in, whatever P is. That works because the
 * residuals of the ranks are alike, and a low-pass filter keeps them so:
 * p = m + ∇; m ← (1−β)·m + β·(p − g), g being p at the indices; 0 < β ≤ 1.
 *
 * The residual kept here is r = m/β. In the paper's m the invariant is
 * wᵗ − (η/β)·avg(mᵗ) = w⁰ − η·Σ avg(∇); so r is what is held back in gradient units, as
 * for every other method, and a switch of methods keeps or flushes it as it is. In r:
 * p = β·r + ∇; r ← (1−β)·r + p, less p at the indices.
 *
 * The authors select from each chunk of the vector, for its speed on their GPUs. A chunk of
 * consecutive entries sends its share also where nothing in it matters (a pixel that is
 * always 0), and the entries that matter wait; so the bucket's largest are the default.
 *
 * Source: ScaleCom (Chen et al., NeurIPS 2020), algorithm 1 and equation 5.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import { writeAverage } from './average.ts';
import { denseSum } from './expected-messages.ts';
import { adoptIndices, indexMessage, indexPayload } from './leader-indices.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import {
  unmeasured,
  type Communicate,
  type Compressor,
  type CompressorContext,
  type ExchangeStatistics,
  type MethodDefinition,
  type Similarity,
} from './method.ts';
import { parseSparse } from './payload-check.ts';
import {
  entriesSent,
  rampParameters,
  ratioParameters,
} from './policy/ratio-schedule.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SharedIndices } from './shared-indices.ts';
import { SimilarityProbe, similarityMessages } from './similarity.ts';
import { noState, requireNoState } from './stateless.ts';
import { TopKSelection, topKEntries } from './topk-selection.ts';

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
    .describe('Select the leader’s largest entries of the bucket, or of each chunk'),
  chunk: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe(
      'Entries per chunk; 0: from the ratio, so that about one of each is sent',
    ),
  diagnosticsEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations between records of how similar the ranks are; 0: none'),
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const scalecom: MethodDefinition<typeof parameters> = {
  id: 'scalecom',
  title: 'ScaleCom',
  summary: 'The values of all ranks at the entries that one of them, in turn, selects.',
  source: 'ScaleCom (Chen et al., NeurIPS 2020), algorithm 1',
  parameters,
  idle: [
    {
      parameter: 'chunk',
      beside: 'selection',
      when: ({ selection }) => selection === 'exact',
      instead: 'selection=chunk',
    },
  ],
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  agreesOn: 'the indices that one rank chooses for all in each exchange',
  replicas: 'identical',
  messages: (parameters, { length }) => {
    const bucket = chunkSize(parameters);
    const entries = topKEntries(length, { ratio: parameters.ratio, k: 0, bucket });
    // Rarer measures of how alike the ranks are do not belong to a usual exchange.
    const measures =
      parameters.diagnosticsEvery === 1 ? similarityMessages(length) : [];
    return [indexMessage(entries, length), ...measures, denseSum(entries)];
  },
  create: (context) => withWarmUp(new ScaleCom(context), context),
};

/** What is sent of a chunk may differ from the ratio by this much of it. */
const TOLERANCE = 1 / 20;

/**
 * Entries of a chunk, 0 for one as large as the bucket. Unless it is given: the least from
 * 1/ratio on of which whole entries are about the ratio. At ratio 0.7, two of each three.
 */
export function chunkSize({
  selection,
  chunk,
  ratio,
}: Pick<Parameters, 'selection' | 'chunk' | 'ratio'>): number {
  if (selection === 'exact') return 0;
  if (chunk > 0) return chunk;
  let size = Math.max(1, Math.round(1 / ratio));
  // Ends by 10/ratio, where half an entry is a twentieth of those sent.
  while (Math.abs(entriesSent(size, { ratio }) / size - ratio) > TOLERANCE * ratio) {
    size++;
  }
  return size;
}

class ScaleCom implements Compressor {
  readonly #context: CompressorContext<Parameters>;
  readonly #residual: Vector;
  readonly #selection: TopKSelection;
  readonly #shared: SharedIndices;
  readonly #probe: SimilarityProbe | undefined;

  constructor(context: CompressorContext<Parameters>) {
    const { parameters, residual } = context;
    if (residual === undefined)
      throw new Error('internal: scalecom without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#selection = new TopKSelection({
      ...context,
      parameters: { ...parameters, k: 0, bucket: chunkSize(parameters) },
    });
    this.#shared = new SharedIndices(context, this.#selection.capacity);
    if (parameters.diagnosticsEvery > 0) {
      this.#probe = new SimilarityProbe(context, this.#selection.capacity);
    }
  }

  async exchange(
    gradient: Vector,
    iteration: number,
    communicate: Communicate,
  ): Promise<ExchangeStatistics> {
    const { length, measure = unmeasured, rank, world } = this.#context;
    const leader = iteration % world;
    this.#compensate(gradient);
    this.#shared.resize(this.#selection.count(iteration));
    if (rank === leader) {
      this.#selection.select(gradient, iteration, this.#shared.region);
    }
    const indices = await communicate({
      operation: 'broadcast',
      root: leader,
      payload: indexPayload(this.#shared.list, length),
    });
    if (rank !== leader) {
      measure('compress', () => {
        this.#adopt(indices, leader);
      });
    }
    const similarity = await this.#compare(gradient, iteration, communicate);
    const payload = measure('compress', () => {
      const values = this.#shared.gather(gradient);
      this.#keepBack(gradient);
      return values;
    });
    const sums = await communicate({ operation: 'reduce', payload });
    const statistics = measure('decompress', () =>
      this.#shared.scatterAverage(sums, gradient),
    );
    return similarity === undefined ? statistics : { ...statistics, similarity };
  }

  /** What a rank alone would send: its own selection, as pairs. */
  encode(gradient: Vector, iteration: number): Payload {
    this.#compensate(gradient);
    const { region } = this.#shared;
    const { offset, count } = this.#selection.select(gradient, iteration, region);
    this.#shared.resize(count);
    this.#keepBack(gradient);
    const data = { offset, bytes: 8 * count };
    return { kind: 'sparse', length: gradient.length, count, data };
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    const { kernels, world } = this.#context;
    return writeAverage(kernels, combined, out, world);
  }

  parse(data: Region): Payload {
    const { arena, length } = this.#context;
    return parseSparse(scalecom.id, arena, data, length);
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(scalecom.id, state);
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
    this.#probe?.[Symbol.dispose]();
  }

  /** How alike the ranks are, of p and the residual of before, in iterations that are due. */
  async #compare(
    p: Vector,
    iteration: number,
    communicate: Communicate,
  ): Promise<Similarity | undefined> {
    const { diagnosticsEvery } = this.#context.parameters;
    if (this.#probe === undefined || (iteration + 1) % diagnosticsEvery !== 0) return;
    return await this.#probe.observe(this.#residual, p, this.#shared.list, communicate);
  }

  /** p = β·r + ∇, in the gradient's memory. */
  #compensate(gradient: Vector): void {
    const { kernels, parameters } = this.#context;
    kernels.blend(gradient, 1, this.#residual, parameters.beta);
  }

  /** r ← (1−β)·r + p, less p at the indices; p is cleared there. */
  #keepBack(p: Vector): void {
    const { kernels, parameters } = this.#context;
    kernels.clearAt(p, this.#shared.list);
    kernels.blend(this.#residual, 1 - parameters.beta, p, 1);
  }

  /** @throws GradwireError `PAYLOAD_INVALID`, naming the leader */
  #adopt(combined: Combined, leader: number): void {
    const { arena, length } = this.#context;
    adoptIndices(arena, this.#shared.list, combined, {
      method: scalecom.id,
      leader,
      length,
    });
  }
}
