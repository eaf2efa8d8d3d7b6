/**
 * A2SGD: two numbers are sent, for any size of the model: the mean μ₊ of the elements ≥ 0
 * and the mean μ₋ of |·| over the elements < 0. Each rank keeps its own deviation from
 * them, ε = g − (±μ), and adds it to the averaged means: ĝ = ε + (±μ̄), signs of the local
 * g. One pass to encode, one to decode, O(1) bytes.
 *
 * ε is local, so the replicas drift apart. The drift can be measured (`divergenceEvery`)
 * and removed (`resyncEvery`): `drift` passes both intervals to the training loop. After
 * the last iteration the weights are averaged once.
 *
 * The paper's two means are those of the whole model, so all tensors form one bucket, and
 * none is exchanged before the last is ready. With `granularity: bucket`, buckets follow
 * `bucketBytes` and have two means each: exchanges begin earlier and send more.
 *
 * Source: A2SGD (Bhattacharya et al., CLUSTER 2021), Algorithm 1.
 */
import { z } from 'zod';
import type { Region } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import { wait, type Steps } from '../work/steps.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { requireBytes } from './payload-check.ts';

const parameters = z.strictObject({
  mode: z
    .enum(['allreduce', 'allgather'])
    .default('allreduce')
    .describe(
      'How the means are combined: summed by a collective, or gathered by every rank',
    ),
  granularity: z
    .enum(['model', 'bucket', 'tensor'])
    .default('model')
    .describe('Two means for the whole model, for each bucket, or for each tensor'),
  resyncEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations between averages of the weights; 0: only after the last'),
  divergenceEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(50)
    .describe('Iterations between measurements of the replicas’ drift; 0: never'),
});
type Parameters = z.infer<typeof parameters>;

export const a2sgd: MethodDefinition<typeof parameters> = {
  id: 'a2sgd',
  title: 'A2SGD (two means)',
  summary: 'The mean of the positive and the mean of the negative elements: 8 bytes.',
  source: 'A2SGD (Bhattacharya et al., CLUSTER 2021), Algorithm 1',
  suits:
    'Very slow links, and shards that resemble each other: replicas drift apart unless resyncEvery averages them.',
  parameters,
  payload: 'scalars',
  reducible: true,
  residual: 'none',
  carriage: ({ mode }) => ({ payload: 'scalars', reducible: mode === 'allreduce' }),
  inOneBucket: ({ granularity }) => granularity === 'model',
  agreesOn: 'the two means over all ranks, by which each corrects its own gradient',
  replicas: 'drift',
  drift: ({ divergenceEvery, resyncEvery }) => ({
    measureEvery: divergenceEvery,
    resyncEvery,
  }),
  messages: ({ mode, granularity }, { length, tensors }) => [
    {
      operation: mode === 'allgather' ? 'gather' : 'reduce',
      kind: 'scalars',
      length,
      bytes: 8 * (granularity === 'tensor' ? tensors.length : 1),
    },
  ],
  create: (context) => new TwoMeans(context),
};

/** A group of elements that share two means. */
interface Group {
  readonly start: number;
  readonly length: number;
}

class TwoMeans<V> implements Compressor<V> {
  readonly #context: CompressorContext<Parameters, V>;
  readonly #groups: readonly Group[];
  readonly #region: Region;
  /** Means that were sent: μ₊ and μ₋ of each group, as f32. */
  readonly #local: Float32Array;
  /** Sums over ranks. */
  readonly #sums: Float64Array;

  constructor(context: CompressorContext<Parameters, V>) {
    const { length, tensors, parameters, work } = context;
    this.#context = context;
    this.#groups =
      parameters.granularity === 'tensor' ? tensors : [{ start: 0, length }];
    this.#local = new Float32Array(2 * this.#groups.length);
    this.#sums = new Float64Array(this.#local.length);
    this.#region = work.region(this.#local.byteLength);
  }

  *encode(gradient: V): Steps<Payload> {
    const { length, work } = this.#context;
    const means = yield* wait(work.twoMeans(this.#slices(gradient)));
    means.forEach(({ plus, minus }, index) => {
      this.#local[2 * index] = plus;
      this.#local[2 * index + 1] = minus;
    });
    const { offset } = this.#region;
    const data = { offset, bytes: this.#local.byteLength };
    this.#scalars(data).set(this.#local);
    return { kind: 'scalars', length, data };
  }

  decode(combined: Combined, out: V): ExchangeStatistics {
    const { work, world } = this.#context;
    this.#sum(combined);
    this.#slices(out).forEach((group, index) => {
      const plus = this.#sums[2 * index]! / world - this.#local[2 * index]!;
      const minus = this.#sums[2 * index + 1]! / world - this.#local[2 * index + 1]!;
      // ε + (±μ̄) = g + (±(μ̄ − μ)): one rounding instead of two. If the means agree, as
      // for P = 1, g keeps its bits; adding 0 would turn −0 into +0.
      if (plus !== 0 || minus !== 0) work.shiftBySign(group, plus, minus);
    });
    return {};
  }

  parse(data: Region): Payload {
    requireBytes(a2sgd.id, data, this.#local.byteLength);
    return { kind: 'scalars', length: this.#context.length, data };
  }

  #slices(x: V): readonly V[] {
    const { work } = this.#context;
    return this.#groups.map(({ start, length }) => work.slice(x, start, length));
  }

  #sum(combined: Combined): void {
    const sums = this.#sums.fill(0);
    switch (combined.form) {
      case 'dense':
        sums.set(this.#scalars(combined.data));
        return;
      case 'gathered':
        for (const { data } of combined.payloads) {
          this.#scalars(data).forEach((value, index) => {
            sums[index] = sums[index]! + value;
          });
        }
        return;
      default:
        throw new Error(`internal: sums of means cannot be ${combined.form}`);
    }
  }

  #scalars({ offset }: Region): Float32Array {
    return this.#context.work.arena.f32({ offset, length: this.#local.length });
  }
}
