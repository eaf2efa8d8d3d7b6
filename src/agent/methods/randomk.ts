/**
 * Random-k with error feedback: k distinct entries of p, drawn at random. Every rank
 * draws the same ones from the shared seed, so no index is sent and the values reduce
 * densely: 4·k bytes for any P, and no fill-in. It keeps no records of the ranks' similarity
 * (`diagnostics.ts`): no rank's choice is to stand for that of all, as all draw the same, and what a
 * draw holds of the largest entries is chance, k of n.
 *
 * What stays behind has E‖p − rand_k(p)‖² = (1 − k/n)·‖p‖². That is said of p, not of the
 * gradient, so it is no `errorBound`.
 *
 * Source: "Sparsified SGD with memory" (Stich et al., NeurIPS 2018), definition 2.1 and
 * appendix A.
 */
import { z } from 'zod';
import { indexBytes } from '../kernels/sparsification.ts';
import type { Region } from '../memory/arena.ts';
import type { Entries, EntryRoom } from '../work/selection.ts';
import { follow, type Steps } from '../work/steps.ts';
import type { RandomStream } from '../kernels/random.ts';
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
  entriesSent,
  largestRatio,
  rampParameters,
  ratioAt,
  ratioBesideK,
  ratioParameters,
  shareLabel,
} from './policy/ratio-schedule.ts';
import { APART_BELOW, smallTensorParameters } from './policy/small-tensors.ts';
import { warmUpParameters, withWarmUp } from './warm-up.ts';
import { scatterAverage, valuesPayload } from './shared-entries.ts';
import { RAMP, WARM_UP } from './policy/schedule.ts';

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
  summary:
    'k entries drawn at random, the same on every rank; only their values are sent.',
  source: 'Sparsified SGD with memory (Stich et al., NeurIPS 2018), definition 2.1',
  suits:
    'Slow links where selecting would take too long: drawing indices costs little, and values can be summed. It learns more slowly than top-k at the same ratio.',
  label: shareLabel,
  parameters,
  idle: ratioBesideK,
  schedules: [RAMP, WARM_UP],
  apartBelow: APART_BELOW,
  payload: 'dense',
  reducible: true,
  residual: 'gradient',
  replicas: 'identical',
  messages: (parameters, { length }) => [denseSum(entriesSent(length, parameters))],
  create: (context) => withWarmUp(new RandomK(context), context),
};

/** Separates these draws from others with the same position: "rand". */
const LOT_PURPOSE = 0x72616e64;

class RandomK<V> implements Compressor<V> {
  readonly #context: CompressorContext<Parameters, V>;
  readonly #residual: V;
  readonly #room: EntryRoom<V>;
  #drawn: { readonly iteration: number; readonly entries: Entries<V> } | undefined;

  constructor(context: CompressorContext<Parameters, V>) {
    const { parameters, residual, work } = context;
    if (residual === undefined) throw new Error('internal: randomk without a residual');
    this.#context = context;
    this.#residual = residual;
    this.#room = work.entries(this.#count(largestRatio(parameters)));
  }

  encode(gradient: V, iteration: number): Payload | Steps<Payload> {
    const entries = this.#draw(iteration);
    this.#context.work.add(this.#residual, gradient);
    entries.gather(this.#residual);
    const values = entries.values();
    entries.clearIn(this.#residual);
    return follow(values, valuesPayload);
  }

  decode(combined: Combined, out: V, iteration: number): ExchangeStatistics {
    const { work, world } = this.#context;
    return scatterAverage(work, this.#draw(iteration), combined, out, world);
  }

  parse(data: Region, iteration: number): Payload {
    const { count } = this.#draw(iteration);
    requireBytes(randomk.id, data, 4 * count);
    return { kind: 'dense', length: count, data };
  }

  #draw(iteration: number): Entries<V> {
    if (this.#drawn?.iteration === iteration) return this.#drawn.entries;
    const { bucket, length, parameters, seed, work } = this.#context;
    const count = this.#count(ratioAt(parameters, iteration));
    // The stream's name has no rank, so the draw is the same for all.
    const name: RandomStream = { seed, bucket, iteration, purpose: LOT_PURPOSE };
    const { offset } = this.#room.list(count);
    const region = { offset, bytes: indexBytes(count) };
    work.kernels.sparsification.drawIndices(length, count, name, region);
    const entries = this.#room.named(count);
    this.#drawn = { iteration, entries };
    return entries;
  }

  #count(ratio: number): number {
    const { length, parameters } = this.#context;
    return entriesSent(length, { ratio, k: parameters.k });
  }
}
