/**
 * Random-k with error feedback: k distinct entries of p, drawn by lot. Every rank draws
 * the same, from the shared seed, so that no index travels and the values reduce densely:
 * 4·k bytes, whatever P is, and no fill-in.
 *
 * Source: "Sparsified SGD with memory" (Stich et al., NeurIPS 2018), definition 2.1.
 */
import { z } from 'zod';
import type { Region, Vector } from '../memory/arena.ts';
import type { StreamName } from '../kernels/random.ts';
import { denseSum } from './expected-messages.ts';
import type { Combined, Payload } from '../memory/payload.ts';
import type {
  Compressor,
  CompressorContext,
  ExchangeStatistics,
  MethodDefinition,
} from './method.ts';
import { requireBytes } from './payload-check.ts';
import {
  rampBesideK,
  entriesSent,
  largestRatio,
  rampParameters,
  ratioAt,
  ratioParameters,
} from './policy/ratio-schedule.ts';
import { smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { SharedIndices } from './shared-indices.ts';
import { noState, requireNoState } from './stateless.ts';

const parameters = z.strictObject({
  ...ratioParameters,
  k: z
    .int()
    .min(0)
    .max(2 ** 30)
    .default(0)
    .describe('Entries sent of each bucket; 0: the ratio decides'),
  ...smallTensorParameters,
  ...rampParameters,
  ...warmUpParameters,
});
type Parameters = z.infer<typeof parameters>;

export const randomk: MethodDefinition<typeof parameters> = {
  id: 'randomk',
  title: 'Random-k',
  summary: 'k entries drawn at random, the same on every rank; only values travel.',
  source: 'Sparsified SGD with memory (Stich et al., NeurIPS 2018), definition 2.1',
  parameters,
  idle: rampBesideK,
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, { length }) => [denseSum(entriesSent(length, parameters))],
  create: (context) => withWarmUp(new RandomK(context), context),
};

/** Keeps these draws apart from others at the same place: "rand". */
export const LOT_PURPOSE = 0x72616e64;

class RandomK implements Compressor {
  readonly #context: CompressorContext<Parameters>;
  readonly #residual: Vector;
  readonly #shared: SharedIndices;
  /** The iteration whose indices lie in memory. */
  #drawn = -1;

  constructor(context: CompressorContext<Parameters>) {
    const { parameters, residual } = context;
    if (residual === undefined) throw new Error('internal: randomk without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#shared = new SharedIndices(context, this.#count(largestRatio(parameters)));
  }

  encode(gradient: Vector, iteration: number): Payload {
    const { kernels } = this.#context;
    this.#draw(iteration);
    kernels.add(this.#residual, gradient);
    const payload = this.#shared.gather(this.#residual);
    kernels.clearAt(this.#residual, this.#shared.list);
    return payload;
  }

  decode(combined: Combined, out: Vector, iteration: number): ExchangeStatistics {
    this.#draw(iteration);
    return this.#shared.scatterAverage(combined, out);
  }

  parse(data: Region, iteration: number): Payload {
    this.#draw(iteration);
    requireBytes(randomk.id, data, this.#shared.payload.data.bytes);
    return { ...this.#shared.payload, data };
  }

  save(): Uint8Array {
    return noState();
  }

  restore(state: Uint8Array): void {
    requireNoState(randomk.id, state);
  }

  [Symbol.dispose](): void {
    this.#shared[Symbol.dispose]();
  }

  #draw(iteration: number): void {
    if (iteration === this.#drawn) return;
    const { kernels, length, parameters, seed, bucket } = this.#context;
    const count = this.#count(ratioAt(parameters, iteration));
    // No rank in the name: the lot is the same for all.
    const name: StreamName = { seed, bucket, iteration, purpose: LOT_PURPOSE };
    this.#shared.resize(count);
    kernels.sparsification.drawIndices(length, count, name, this.#shared.region);
    this.#drawn = iteration;
  }

  #count(ratio: number): number {
    const { length, parameters } = this.#context;
    return entriesSent(length, { ratio, k: parameters.k });
  }
}
