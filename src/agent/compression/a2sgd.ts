/**
 * A2SGD: two numbers travel, whatever the size of the model: the mean μ₊ of the entries
 * ≥ 0 and the mean μ₋ of |·| over the entries < 0. Each rank keeps its own deviation from
 * them, ε = g − (±μ), and adds it to the averaged means: ĝ = ε + (±μ̄), signs of the local
 * g. One pass to encode, one to decode, O(1) bytes.
 *
 * ε is local, so the replicas drift apart. How far is measured (`divergenceEvery`), and
 * they can be brought together (`resyncEvery`); both are done by the exchange, which
 * reads these parameters. After the last iteration the weights are averaged once.
 *
 * The paper's two means are those of the whole model. Here they are those of a bucket, so of
 * the model only where it fits in one (`bucketBytes`): two buckets send 16 bytes.
 *
 * Source: A2SGD (Bhattacharya et al., CLUSTER 2021), Algorithm 1.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { requireBytes } from './payload-check.ts';
import { noState, requireNoState } from './stateless.ts';

const parameters = z.strictObject({
  mode: z
    .enum(['allreduce', 'allgather'])
    .default('allreduce')
    .describe(
      'How the means are averaged: summed on the way, or gathered by every rank',
    ),
  granularity: z
    .enum(['bucket', 'tensor'])
    .default('bucket')
    .describe('Two means for each bucket, or for each tensor in it'),
  resyncEvery: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .default(0)
    .describe('Iterations between averagings of the weights; 0: only after the last'),
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
  summary: 'The mean of the positive and the mean of the negative entries: 8 bytes.',
  source: 'A2SGD (Bhattacharya et al., CLUSTER 2021), Algorithm 1',
  parameters,
  payload: 'scalars',
  reducible: true,
  residual: 'none',
  carriage: ({ mode }) => ({ payload: 'scalars', reducible: mode === 'allreduce' }),
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

/** A run of elements that shares its two means. */
interface Group {
  readonly start: number;
  readonly length: number;
}

class TwoMeans implements Compressor {
  readonly #context: CompressorContext<Parameters>;
  readonly #groups: readonly Group[];
  readonly #region: Region;
  readonly #payload: Payload;
  /** What was sent: μ₊, μ₋ of each group, as the f32 that travel. */
  readonly #local: Float32Array;
  /** Sums over ranks. */
  readonly #sums: Float64Array;

  constructor(context: CompressorContext<Parameters>) {
    const { length, tensors, arena, parameters } = context;
    this.#context = context;
    this.#groups =
      parameters.granularity === 'tensor' ? tensors : [{ start: 0, length }];
    this.#local = new Float32Array(2 * this.#groups.length);
    this.#sums = new Float64Array(this.#local.length);
    this.#region = arena.allocate(this.#local.byteLength);
    this.#payload = {
      kind: 'scalars',
      length,
      data: { offset: this.#region.offset, bytes: this.#local.byteLength },
    };
  }

  encode(gradient: Vector): Payload {
    const { arena, kernels } = this.#context;
    this.#groups.forEach((group, index) => {
      const { plus, minus } = kernels.twoMeans(slice(gradient, group));
      this.#local[2 * index] = plus;
      this.#local[2 * index + 1] = minus;
    });
    arena.f32(this.#vectorAt(this.#region.offset)).set(this.#local);
    return this.#payload;
  }

  decode(combined: Combined, out: Vector): ExchangeStatistics {
    const { kernels, world } = this.#context;
    this.#sum(combined);
    this.#groups.forEach((group, index) => {
      const plus = this.#sums[2 * index]! / world - this.#local[2 * index]!;
      const minus = this.#sums[2 * index + 1]! / world - this.#local[2 * index + 1]!;
      // ε + (±μ̄) = g + (±(μ̄ − μ)): one rounding instead of two. Where the means agree,
      // as for P = 1, g stays bit for bit; adding 0 would turn −0 into +0.
      if (plus !== 0 || minus !== 0) {
        kernels.shiftBySign(slice(out, group), plus, minus);
      }
    });
    return {};
  }

  parse(data: Region): Payload {
    requireBytes(a2sgd.id, data, this.#local.byteLength);
    return { kind: 'scalars', length: this.#context.length, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(a2sgd.id, state);
  }

  [Symbol.dispose](): void {
    this.#context.arena.release(this.#region);
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

  #scalars(data: Region): Float32Array {
    return this.#context.arena.f32(this.#vectorAt(data.offset));
  }

  #vectorAt(offset: number): Vector {
    return { offset, length: this.#local.length };
  }
}

function slice(vector: Vector, { start, length }: Group): Vector {
  return { offset: vector.offset + 4 * start, length };
}
