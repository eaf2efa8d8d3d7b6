/**
 * Top-k with error feedback: the k entries of p with the largest |p| are sent. Exactly k,
 * ties by lower index. Of the whole bucket in about two passes, or of each run of `bucket`
 * entries in one. The values travel exactly, or quantised (`valueBits`).
 *
 * Source: SparCML (Renggli et al., SC 2019), Algorithm 1; section 8 for k of each 512.
 */
import { z } from 'zod';
import type { Region, Vector } from '../kernels/arena.ts';
import type { SparseStream } from '../kernels/kernels.ts';
import { entriesPerRun } from '../kernels/sparsification.ts';
import type { CompressorContext, MethodDefinition } from './method.ts';
import {
  entriesSent,
  largestRatio,
  ratioAt,
  ratioParameters,
} from './policy/ratio-schedule.ts';
import { warmUpParameters, withWarmUp } from './policy/warm-up.ts';
import {
  carriageOfValues,
  feedbackOf,
  valueParameters,
  type ValueParameters,
} from './quantized-values.ts';
import type { Selection } from './sparse-feedback.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  k: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Entries sent of each bucket, or of each run; 0: the ratio decides'),
  bucket: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Select from each run of so many entries; 0: from the bucket as a whole'),
  ...valueParameters,
  ...warmUpParameters,
});
type Parameters = Omit<z.infer<typeof parameters>, keyof ValueParameters>;

export const topk: MethodDefinition<typeof parameters> = {
  id: 'topk',
  title: 'Top-k',
  summary: 'The k entries of largest magnitude; the rest waits in a residual.',
  source: 'SparCML (Renggli et al., SC 2019), Algorithm 1',
  parameters,
  payload: 'sparse',
  reducible: true,
  carriage: carriageOfValues,
  residual: 'gradient',
  replicas: 'identical',
  create: (context) =>
    withWarmUp(feedbackOf(topk.id, context, new TopKSelection(context)), context),
};

export class TopKSelection implements Selection {
  readonly capacity: number;
  readonly #context: CompressorContext<Parameters>;
  /** Entries of a run, and of the shorter last one: the whole bucket, if `bucket` is 0. */
  readonly #run: number;
  readonly #tail: number;

  constructor(context: CompressorContext<Parameters>) {
    const { length, parameters } = context;
    this.#context = context;
    this.#run = parameters.bucket > 0 ? parameters.bucket : Math.max(1, length);
    this.#tail = length % this.#run;
    this.capacity = this.#count(largestRatio(parameters));
  }

  select(p: Vector, iteration: number, out: Region): SparseStream {
    const { kernels, parameters } = this.#context;
    const ratio = ratioAt(parameters, iteration);
    if (this.#run >= p.length) return kernels.selectTopK(p, this.#count(ratio), out);
    const [k, tailK] = this.#entries(ratio);
    return kernels.sparsification.selectTopKPerRun(p, this.#run, k, tailK, out);
  }

  /** Entries that are selected at an iteration. */
  count(iteration: number): number {
    return this.#count(ratioAt(this.#context.parameters, iteration));
  }

  #count(ratio: number): number {
    const { length } = this.#context;
    return entriesPerRun(length, this.#run, ...this.#entries(ratio));
  }

  #entries(ratio: number): [number, number] {
    const { k } = this.#context.parameters;
    return [
      entriesSent(this.#run, { ratio, k }),
      entriesSent(this.#tail, { ratio, k }),
    ];
  }
}
